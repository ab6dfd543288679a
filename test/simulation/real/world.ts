import { type Receiver, startReceiver } from '@backstop/simulator'
import { ApiUser } from '../actors/api-user.ts'
import { type Customer, openCustomer } from '../actors/customer.ts'
import { NO_HABITS } from '../actors/habits.ts'
import { newTruth, type Truth } from '../actors/truth.ts'
import { drawChanges } from '../plan.ts'
import { Agenda } from '../world/agenda.ts'
import { createRandom, type Random } from '../world/random.ts'
import { CALM, drawSwarm, type Swarm } from '../world/swarm.ts'
import type { RealCluster } from './cluster.ts'
import type { RealTimers } from './timers.ts'

/**
 * A receiver fails a delivery at most once: the first rung of the retries takes five seconds, the second one a minute, and neither can be
 * made shorter.
 */
const MOST_FAILURES = 1

export interface WorldParts {
  readonly seed: number
  readonly cluster: RealCluster
  readonly timers: RealTimers
  /** The first API key of the installation. */
  readonly key: string
}

/** The customers of one seed, with their accounts and receivers. */
export interface World {
  readonly seed: number
  readonly truth: Truth
  readonly swarm: Swarm
  readonly agenda: Agenda
  readonly api: ApiUser
  readonly projectIds: readonly string[]
  /** Plans what actors do. @param durationMs how long it goes on, in milliseconds of the plan */
  begin(durationMs: number): void
  /** Ends the faults of receivers and providers. */
  calm(): void
  /** Takes back changes that the product has read. Call it when everything is at rest: how long a read takes depends on the machine. */
  actAfterRest(): void
  stop(): Promise<void>
}

export async function openWorld({ seed, cluster, timers, key }: WorldParts): Promise<World> {
  const random = createRandom(seed)
  // On the real clock only software acts: the times of people and of outages cannot be made shorter.
  const drawn = { ...drawSwarm(random.fork('swarm')), ...NO_HABITS }
  let swarm = CALM
  const truth = newTruth()
  const agenda = new Agenda(timers)
  const stops: (() => Promise<void>)[] = []
  const afterRest: (() => void)[] = []
  const api = new ApiUser({ clock: agenda, random: random.fork('api'), cluster, key })
  const world = {
    ...{ clock: agenda, cluster, api, truth, swarm: () => swarm, happened: () => {}, note: () => {} },
    whenHintsAreRead: (_random: Random, act: () => void) => void afterRest.push(act),
  }
  const customers: Customer[] = []
  for (const name of ['One', 'Two']) {
    const receiver = await openReceiver(truth, random.fork(`receiver ${name}`), () => swarm)
    const receivers = { webhooks: [`${receiver.url}/alerts`] }
    const customer = await openCustomer(world, random.fork(name), { name, receivers })
    stops.push(receiver.stop, ...customer.accounts.map(({ providerApi }) => providerApi.stop))
    customers.push(customer)
  }
  return {
    seed,
    truth,
    swarm: drawn,
    agenda,
    api,
    projectIds: customers.map(({ projectId }) => projectId),
    begin(durationMs) {
      swarm = drawn
      const plan = drawChanges({ world, random: random.fork('plan'), customers, durationMs })
      for (const { name, atMs, act } of plan)
        agenda.schedule(atMs, () => act().catch(error => void truth.wrongs.push(`${name}: ${error}`)))
      troubleProviders(customers, drawn, { random: random.fork('providers'), agenda, durationMs })
    },
    calm() {
      swarm = CALM
    },
    actAfterRest() {
      for (const act of afterRest.splice(0)) act()
    },
    async stop() {
      await Promise.all(stops.map(stop => stop()))
    },
  }
}

/** A server that answers, refuses, hangs, or takes a message and loses the answer. */
async function openReceiver(truth: Truth, random: Random, swarm: () => Swarm): Promise<Receiver> {
  const failures = new Map<string, number>()
  const receiver = await startReceiver({ now: Date.now })
  const { host } = new URL(receiver.url)
  receiver.answerWith(({ webhookId = '', rawBody, receivedAtMs }) => {
    const failed = failures.get(webhookId) ?? 0
    const fails = failed < MOST_FAILURES && random.chance(swarm().receiverFaults)
    const fault = fails ? random.pick(['refuse', 'hang', 'lose'] as const) : 'none'
    if (fails) failures.set(webhookId, failed + 1)
    if (fails) truth.failedAttempts.push({ channel: host, webhookId, body: rawBody.toString() })
    if (fault === 'refuse') return { kind: 'answer', status: 500 }
    if (fault === 'hang') return { kind: 'silence' }
    const isAnswered = fault === 'none'
    truth.received.push({ atMs: receivedAtMs, channel: host, webhookId, body: rawBody.toString(), isAnswered })
    return isAnswered ? { kind: 'answer', status: 200 } : { kind: 'cut' }
  })
  return receiver
}

/** Mean time between two troubles of a provider's API if all its calls were to fail, in milliseconds of the plan. */
const TROUBLE_EVERY_MS = 2_000

/**
 * Providers fail, hang, cut connections and limit the rate at times that the seed draws. Those whose notifications are only hints do not: a
 * failed read is repeated after half a minute, which is less than the minute before the second look, and no setting makes it shorter.
 */
function troubleProviders(
  customers: readonly Customer[],
  { providerFaults }: Swarm,
  { random, agenda, durationMs }: { random: Random; agenda: Agenda; durationMs: number },
): void {
  if (providerFaults === 0) return
  const meanMs = TROUBLE_EVERY_MS / providerFaults
  for (const provider of customers.flatMap(({ accounts }) => accounts.filter(({ sendsHints }) => !sendsHints))) {
    for (let atMs = random.between(1, 2 * meanMs); atMs < durationMs; atMs += random.between(1, 2 * meanMs)) {
      const trouble = random.pick([
        { kind: 'error', status: 503 },
        { kind: 'error', status: 429, retryAfterS: 1 },
        { kind: 'html', status: 502 },
        { kind: 'silence' },
        { kind: 'cut' },
        { kind: 'slow', afterMs: 3_000 },
      ] as const)
      agenda.schedule(atMs, () => provider.providerApi.setTrouble({ ...trouble, times: random.between(1, 3) }))
    }
  }
}
