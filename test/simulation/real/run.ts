/** Runs the product as processes with real servers behind faulty links, for the customers of several seeds at once, and judges it. */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '@backstop/kit/test'
import type { StackUrls } from '@backstop/stack'
import { collectEvidence } from '../judge/collect-evidence.ts'
import { judge } from '../judge/judge.ts'
import { createRandom } from '../world/random.ts'
import { drawSwarm } from '../world/swarm.ts'
import { carryOut } from './carry-out.ts'
import { MEMBERS, RealCluster } from './cluster.ts'
import { describeFault, drawFaults, type Fault } from './faults.ts'
import { LINKED_SERVERS } from './link.ts'
import { readProductFaults } from './logs.ts'
import { prepareProduct, removeProduct, SECOND_LOOK_MS, untilIdle } from './product.ts'
import type { OwnServers } from './servers.ts'
import { readStored } from './stored.ts'
import { Timeline } from './timeline.ts'
import { RealTimers, SPEED } from './timers.ts'
import { openWorld, type World } from './world.ts'

/**
 * Longest time until everything is at rest after the last fault, in milliseconds: what a killed process had not published is published
 * after 35 s, and a retry on the second rung takes a minute.
 */
const REST_MS = 180_000

export interface RealRunOptions {
  /** The seeds whose customers share the processes. The faults of processes, links and servers come from the first one. */
  readonly seeds: readonly number[]
  /** Minutes of the plan with faults; on the clock SPEED times shorter. */
  readonly minutes: number
  readonly stack: StackUrls
  /** The servers of the stack, if nobody else uses them. */
  readonly servers?: OwnServers | undefined
  /** For secrets and logs; removed if every seed is right. */
  readonly folder: string
}

export interface RealRunResult {
  readonly seed: number
  /** What the judge found, a line each. */
  readonly faults: readonly string[]
  /** How many alerts its receivers got. */
  readonly alerts: number
}

export interface RealGroupResult {
  readonly runs: readonly RealRunResult[]
  /** How often each kind of accident happened. */
  readonly counts: ReadonlyMap<string, number>
  /** Lines for people, in the order of time. */
  readonly timeline: readonly string[]
}

/** Runs one group of seeds. @throws Error if the product does not start */
export async function runReal(options: RealRunOptions): Promise<RealGroupResult> {
  const run = await openRun(options)
  const { cluster, worlds, product, servers, timers, timeline, faults, folder } = run
  try {
    await cluster.start()
    for (const seed of options.seeds) worlds.push(await openWorld({ seed, cluster, timers, key: product.key }))
    const faultsEndedMs = await letAct(run)
    await untilRest(run)
    for (const world of worlds) world.actAfterRest()
    await untilRest(run)
    const runs = await judgeWorlds(run, faultsEndedMs)
    const counts = new Map([...Map.groupBy(faults, nameOf)].map(([name, list]) => [name, list.length]))
    if (runs.every(run => run.faults.length === 0)) rmSync(folder, { recursive: true })
    return { runs, counts, timeline: timeline.lines() }
  } finally {
    timers.stop()
    await servers?.untilRunning()
    await cluster.stop()
    await Promise.all(worlds.map(world => world.stop()))
    // The data on servers of others ends with these servers, as that of other tests.
    if (servers !== undefined) await removeProduct(product)
  }
}

type Run = Awaited<ReturnType<typeof openRun>>

async function openRun({ seeds, minutes, stack, servers, folder }: RealRunOptions) {
  const random = createRandom(seeds[0]!)
  const timeline = new Timeline()
  const wrongs: string[] = []
  const { clockMs } = drawSwarm(random.fork('swarm'))
  mkdirSync(folder, { recursive: true })
  const product = await prepareProduct(`sim-${seeds[0]}`, folder, stack)
  const cluster = new RealCluster({
    ...{ product, stack, random: random.fork('cluster'), clockMs },
    trace: text => timeline.add(text),
    onWrong: text => void wrongs.push(text),
  })
  const durationMs = (minutes * 60_000) / SPEED
  const members = Object.keys(MEMBERS)
  const faults = drawFaults(random.fork('faults'), { members, durationMs, areServersOwn: servers !== undefined })
  const timers = new RealTimers()
  const worlds: World[] = []
  return { product, cluster, servers, timers, timeline, wrongs, worlds, faults, clockMs, durationMs, folder }
}

/** Lets actors act while the faults happen. @returns when the last fault was over, in milliseconds since the epoch */
async function letAct({ cluster, servers, timers, timeline, worlds, faults, durationMs }: Run): Promise<number> {
  timeline.add('the faults begin')
  for (const world of worlds) world.begin(durationMs * SPEED)
  for (const fault of faults) {
    timers.after(fault.atMs, () => {
      timeline.add(`* ${describeFault(fault)}`)
      carryOut(fault, { cluster, servers, timers })
    })
  }
  await new Promise<void>(resolve => void timers.after(durationMs, resolve))
  for (const link of LINKED_SERVERS.flatMap(server => cluster.links('all', server))) link.heal()
  for (const world of worlds) world.calm()
  await servers?.untilRunning()
  await cluster.untilReady()
  timeline.add('the faults are over')
  return Date.now()
}

/** Resolves when actors have done everything and nothing is in flight. What is in flight after REST_MS is a fault. */
async function untilRest({ worlds, product, timeline, wrongs }: Run): Promise<void> {
  const open = () => worlds.map(({ agenda }) => agenda.open)
  const isDone = () => open().every(count => count === 0)
  try {
    await until('actors to have done everything', isDone, { timeoutMs: REST_MS, seen: open })
    await untilIdle(product, REST_MS)
    timeline.add('everything is at rest')
  } catch (error) {
    wrongs.push(`Not at rest: ${error instanceof Error ? error.message : error}`)
  }
}

/** Judges each world. What a process did wrong by itself is a fault of all of them. */
async function judgeWorlds(run: Run, faultsEndedMs: number): Promise<RealRunResult[]> {
  const { worlds, product, timeline, faults, clockMs, folder } = run
  const endMs = Date.now()
  const stored = await readStored(product)
  const wrongs = [...run.wrongs, ...readProductFaults(join(folder, 'logs'))]
  const runs: RealRunResult[] = []
  for (const { seed, truth, api, projectIds, swarm } of worlds) {
    timeline.addTruth(seed, truth)
    const evidence = await collectEvidence(api, projectIds, stored)
    const found = judge({ ...truth, wrongs: [...truth.wrongs, ...wrongs] }, evidence, {
      secondLookMs: SECOND_LOOK_MS,
      clockMs: 2 * clockMs,
      delayMs: swarm.delayMs,
      mayRepeat: faults.length > 0,
      faultsEndedMs,
      endMs,
    })
    runs.push({ seed, faults: found, alerts: truth.received.length })
  }
  return runs
}

/** The kind of a fault, with that of its disturbance. */
function nameOf(fault: Fault): string {
  return fault.kind === 'disturbed' ? fault.disturbance.kind : fault.kind
}
