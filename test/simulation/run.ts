import { COLLECTIONS, newId } from '@backstop/contracts'
import { Broker } from '@backstop/kit/simulated-kafka'
import { MongoServer } from '@backstop/kit/simulated-mongo'
import { ApiUser } from './actors/api-user.ts'
import { type Customer, openCustomer } from './actors/customer.ts'
import { Outside } from './actors/outside.ts'
import { newTruth, type Truth } from './actors/truth.ts'
import type { World as ActorWorld } from './actors/world.ts'
import { collectEvidence, storedIn } from './judge/collect-evidence.ts'
import { judge } from './judge/judge.ts'
import { ENDS_WITHIN_MS } from './judge/properties/bursts.ts'
import { ERASED_AFTER_MS, PERSON_ERASED_AFTER_MS } from './judge/properties/personal-data.ts'
import { drawPlan } from './plan.ts'
import { storyOf } from './story.ts'
import { planAccidents } from './world/accidents.ts'
import { Agenda } from './world/agenda.ts'
import { Cluster } from './world/cluster.ts'
import { createFates } from './world/fates.ts'
import { countRefills, forbidTime, useRandom } from './world/globals.ts'
import { API_KEY } from './world/product.ts'
import { createRandom } from './world/random.ts'
import { pendingWork } from './world/rest.ts'
import { Scheduler } from './world/scheduler.ts'
import { forgetServers, replaceListening } from './world/simulated-http.ts'
import { CALM, drawSwarm, mayRepeat, type Swarm } from './world/swarm.ts'
import { Trace } from './world/trace.ts'

const SECOND_LOOK_MS = 60_000
/** Shortly before the end of a week, so that runs have changes on both sides. */
const START_MS = Date.UTC(2026, 0, 4, 23, 59)
/** A hint is read again after half a minute, and once more. */
const HINTS_ARE_READ_WITHIN_MS = 75_000
/** When the faults have ended, everything settles within this time, in virtual milliseconds. */
export const SETTLES_WITHIN_MS = 15 * 60_000
/** Nothing must be in progress for this time, in milliseconds: longer than the pauses of the product's timers. */
const QUIET_MS = 16_000
const QUIET_CHECK_MS = 4_000

/** Most runs are short: two short runs find more than a long one. A minute is too short for a change and its alert. */
const MINUTES = [2, 2, 2, 2, 3]

let virtualNow = () => START_MS
/** An unhandled rejection ends a real process. */
let onUnhandled = (error: unknown): void => {
  throw error
}

/** A run, exactly. The same options give the same run. */
export interface RunOptions {
  readonly seed: number
  /** Virtual minutes with faults; drawn from the seed if left out. */
  readonly minutes?: number
  /** Kinds of fault of the swarm, and items of the plan, that this run leaves out. */
  readonly without?: readonly string[]
}

/** The result of one run. */
export interface RunResult {
  /** What is wrong, a line each. */
  readonly faults: readonly string[]
  /** The same for each run with these options. */
  readonly hash: string
  readonly virtualMs: number
  readonly minutes: number
  /** The kinds of fault that were on. */
  readonly kinds: readonly string[]
  /** The names of everything that actors did. */
  readonly plan: readonly string[]
  /** What people read about the run, and every event; empty if they were not kept. */
  readonly story: readonly string[]
  readonly timeline: readonly string[]
  /** How often each accident happened. */
  readonly counts: ReadonlyMap<string, number>
}

/** Replaces time, random numbers and sockets of the program, once. */
export function prepare(): void {
  replaceListening()
  forbidTime(() => virtualNow())
  process.on('unhandledRejection', error => onUnhandled(error))
}

/** Runs the product and its world from a seed, until everything is at rest, and judges it. */
export async function run(options: RunOptions, keepTimeline = false): Promise<RunResult> {
  const { seed, without = [] } = options
  const world = openWorld(seed, without, keepTimeline)
  const minutes = options.minutes ?? world.random.fork('minutes').pick(MINUTES)
  const { scheduler, random, agenda, trace, truth, drawn, broker, mongo } = world
  const { customers, actors } = await openCustomers(world)
  world.swarm = drawn
  const durationMs = minutes * 60_000
  const endMs = scheduler.now + durationMs
  planAccidents({ ...world, random: random.fork('accidents'), swarm: drawn, endMs })
  if (drawn.updateAtMs > 0) {
    scheduler.schedule(drawn.updateAtMs, () => {
      trace.happened('a rolling update')
      world.cluster.update()
    })
  }
  const { outside } = world
  const plan = drawPlan({ world: actors, random: random.fork('plan'), customers, outside, durationMs })
  for (const { name, atMs, act } of plan) {
    if (without.includes(name)) continue
    agenda.schedule(atMs, () => act().catch(error => void truth.wrongs.push(`${name}: ${error}`)))
  }
  await scheduler.runUntil(endMs)
  world.swarm = { ...CALM, replicas: drawn.replicas, clockMs: drawn.clockMs }
  trace.add('the faults end')
  const left = await untilAtRest(world, endMs)
  if (left !== undefined) truth.wrongs.push(`${SETTLES_WITHIN_MS / 60_000} minutes after the last fault: ${left}`)
  // Personal data of a deleted connection is kept for ten minutes.
  if (truth.departed.length > 0) await scheduler.runUntil(endMs + ERASED_AFTER_MS)
  if (truth.erased.length > 0) await scheduler.runUntil(endMs + PERSON_ERASED_AFTER_MS)
  if (truth.leaked.length > 0) await scheduler.runUntil(scheduler.now + ENDS_WITHIN_MS)
  const atRestMs = scheduler.now
  const observer = new ApiUser({
    clock: agenda,
    random: random.fork('observer'),
    cluster: world.cluster,
    key: API_KEY,
  })
  const projectIds = customers.map(({ projectId }) => projectId)
  const evidence = await whileRunning(scheduler, collectEvidence(observer, projectIds, storedIn(mongo, broker)))
  const faults = judge(truth, evidence, {
    secondLookMs: SECOND_LOOK_MS,
    clockMs: 2 * drawn.clockMs,
    delayMs: drawn.delayMs,
    mayRepeat: mayRepeat(drawn),
    faultsEndedMs: endMs,
    endMs: atRestMs,
  })
  for (const { webhookId, body } of truth.received) trace.detail(`${webhookId} ${body}`)
  for (const fault of faults) trace.detail(fault)
  return {
    faults,
    hash: trace.hash,
    virtualMs: scheduler.now - START_MS,
    minutes,
    kinds: Object.keys(drawn).filter(kind => drawn[kind as keyof Swarm] !== CALM[kind as keyof Swarm]),
    plan: plan.map(({ name }) => name),
    story: keepTimeline ? storyOf(trace, truth, START_MS) : [],
    timeline: trace.lines,
    counts: trace.counts,
  }

  async function untilAtRest({ scheduler }: World, faultsEndedMs: number): Promise<string | undefined> {
    let quietMs = 0
    let left: string | undefined
    while (quietMs < QUIET_MS && scheduler.now < faultsEndedMs + SETTLES_WITHIN_MS) {
      await scheduler.runUntil(scheduler.now + QUIET_CHECK_MS)
      const isBusy = agenda.open > 0
      left = isBusy ? 'actors are busy' : pendingWork({ mongo, broker, now: scheduler.now, faultsEndedMs })
      quietMs = left === undefined ? quietMs + QUIET_CHECK_MS : 0
    }
    return left
  }
}

interface World extends ReturnType<typeof openWorld> {}

/** The servers, the processes and the clock of a run. */
function openWorld(seed: number, without: readonly string[], keepTimeline: boolean) {
  const random = createRandom(seed)
  const scheduler = new Scheduler(START_MS)
  virtualNow = () => scheduler.now
  useRandom(random.fork('bytes'))
  discardIds()
  forgetServers()
  const drawn = leaveOut(drawSwarm(random.fork('swarm')), without)
  const trace = new Trace(() => scheduler.now - START_MS, keepTimeline)
  const truth = newTruth()
  onUnhandled = error => {
    truth.wrongs.push(`A process would end by ${error instanceof Error ? error.stack : String(error)}`)
  }
  const delays = random.fork('replication')
  const mongo = new MongoServer(COLLECTIONS, {
    replicate: confirm => void scheduler.schedule(delays.between(1, world.swarm.replicationMs), confirm),
  })
  const broker = new Broker({ now: () => scheduler.now, schedule: (ms, act) => scheduler.schedule(ms, act) }, 2)
  const outside = new Outside({
    truth,
    random: random.fork('receivers'),
    scheduler,
    swarm: () => world.swarm,
    happened: name => trace.happened(name),
  })
  const cluster = openCluster()
  const world = {
    outside,
    random,
    scheduler,
    agenda: new Agenda(scheduler),
    drawn,
    swarm: CALM,
    trace,
    truth,
    mongo,
    broker,
    cluster,
  }
  cluster.start()
  return world

  function openCluster(): Cluster {
    return new Cluster({
      scheduler,
      random: random.fork('cluster'),
      replicas: drawn.replicas,
      isLastRelease: drawn.updateAtMs > 0,
      clockMs: () => drawn.clockMs,
      servers: { mongo, broker, random: random.fork('jitter'), ...observe(trace, truth) },
      fateOf: createFates({ random, swarm: () => world.swarm, happened: name => trace.happened(name) }),
      trace: text => trace.add(text),
      detail: text => trace.detail(text),
      egressOf: process => outside.egressOf(process),
    })
  }
}

/** Faults that a process reports about itself, and that no accident may cause. */
function observe(trace: Trace, truth: Truth) {
  return {
    onLog(process: string, line: Record<string, unknown>): void {
      trace.add(`log ${process} ${line.msg}`)
      const { type = 'AppError' } = (line.error ?? {}) as { type?: string }
      const isExpected = line.level !== 'error' || type === 'AppError' || type.startsWith('Mongo')
      if (line.msg === 'consumer.fault' || !isExpected) {
        truth.wrongs.push(`${process} logs ${JSON.stringify(line).slice(0, 600)}`)
      }
    },
    onFatal(process: string, error: unknown): void {
      truth.wrongs.push(`${process} gave up: ${error instanceof Error ? error.stack : String(error)}`)
    },
  }
}

function leaveOut(swarm: Swarm, without: readonly string[]): Swarm {
  const kinds = Object.keys(swarm).filter(kind => without.includes(kind))
  return { ...swarm, ...Object.fromEntries(kinds.map(kind => [kind, CALM[kind as keyof Swarm]])) }
}

/** Opens the accounts of one or two customers while nothing breaks. */
async function openCustomers(world: World): Promise<{ customers: Customer[]; actors: ActorWorld }> {
  const { scheduler, agenda, random, cluster, truth, trace } = world
  await scheduler.runUntil(scheduler.now + 2_000)
  const api = new ApiUser({ clock: agenda, random: random.fork('api'), cluster, key: API_KEY })
  const happened = (kind: string) => trace.happened(kind)
  const note = (text: string) => trace.add(text)
  const swarm = () => world.swarm
  const whenHintsAreRead: ActorWorld['whenHintsAreRead'] = (random, act) =>
    void agenda.schedule(random.between(HINTS_ARE_READ_WITHIN_MS, 2 * HINTS_ARE_READ_WITHIN_MS), act)
  const actors = { clock: agenda, cluster, api, truth, whenHintsAreRead, swarm, happened, note }
  const customers: Customer[] = []
  // A second customer shows whether something of one project gets into another. It doubles the time of a run.
  const names = random.fork('customers').chance(0.25) ? ['One', 'Two'] : ['One']
  for (const name of names) {
    const hosts = ['first', 'second'].map(receiver => `${receiver}.${name.toLowerCase()}.example.com`)
    const receivers = {
      webhooks: hosts.map(host => `https://${host}/alerts`),
      chat: `https://hooks.slack.com/services/T0/B0/${name}`,
    }
    // The release before knows no incident of these rules, so an operator chooses them after the update (docs/upgrade.md).
    const isUpdated = world.drawn.updateAtMs === 0
    const hasRule = isUpdated && random.fork(`rule of ${name}`).chance(0.7)
    const customer = { name, receivers, twiceWithinHours: hasRule ? 1 : null, hasBurstAlarm: isUpdated }
    customers.push(await whileRunning(scheduler, openCustomer(actors, random.fork(name), customer)))
  }
  for (const { accounts } of customers) for (const { providerApi } of accounts) world.outside.add(providerApi)
  await scheduler.runUntil(scheduler.now + 1_000)
  return { customers, actors }
}

/** Lets time go on until some work is done. */
async function whileRunning<T>(scheduler: Scheduler, work: Promise<T>): Promise<T> {
  let isDone = false
  const done = () => {
    isDone = true
  }
  work.then(done, done)
  for (let turn = 0; !isDone && turn < 5_000; turn += 1) await scheduler.runUntil(scheduler.now + 20)
  return work
}

/** Ids come from a pool of random bytes. A run must not get the rest of an earlier one. */
function discardIds(): void {
  const before = countRefills()
  while (countRefills() === before) newId('request')
}
