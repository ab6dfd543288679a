/** Makes one outage, and waits until its backlog is judged and delivered while new events arrive. */
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '@backstop/kit/test'
import type { ProgressSink } from '@backstop/stack'
import type { Db, Timestamp } from 'mongodb'
import { isOpened, refOf } from '../../test/setup/customer.ts'
import type { Installation } from '../../test/setup/installation/installation.ts'
import { type Load, type LoadOptions, type SentRefund, startLoad } from '../../test/setup/installation/load.ts'
import { verify } from '../../test/setup/installation/verify.ts'
import { openInspector } from '../../test/setup/product-inspector.ts'
import { isInSample, type VerdictWatch, watchVerdicts } from '../end-to-end/verdicts.ts'
import type { Outage, Parts } from './outages.ts'
import { createCoverage, JUDGED, MINUTE_MS, readCatchUp } from './readings.ts'

/** The rate at which providers repeat refused events, and at which the other backlogs are filled, as a multiple of the normal rate. */
export const REPEATED = 3
/** The backlog of Kafka waits at the providers, so its size does not depend on this time. */
const KAFKA_DOWN_MS = 10_000
/** The rate of events that are posted and refused while Kafka is down, as a part of the normal rate: each is repeated twice a second. */
const REFUSED = 1 / 50
/** From the first new event to the start of the notifier: the minute, and time for the first decisions. */
const DECIDED_BEFORE_MS = MINUTE_MS + 15_000
/** Software reports an operation before it asks the provider for the refund. */
const REPORTED_BEFORE_MS = 1_000
/** The events of a backlog that are posted at once, in seconds of their rate: a slow ingress slows the providers down. */
const PENDING_S = 3
const WITHIN_MS = 600_000
const LATE_MS = 2_000

export interface World extends Parts {
  readonly installation: Installation
  readonly perSecond: number
  /** The length of the outage whose events are the backlog, in milliseconds. */
  readonly outageMs: number
  readonly log: ProgressSink
}

type LoadLimits = Pick<LoadOptions, 'most' | 'mostPending'>

interface EndedOutage {
  readonly endedAtMs: number
  readonly backlog: readonly Load[]
  readonly fresh: Load
  readonly verdicts: VerdictWatch
}

/**
 * @returns the readings of readCatchUp
 * @throws Error if anything was lost, doubled, wrong or early, or if a step takes much longer than ten minutes
 */
export async function measureOutage(outage: Outage, world: World) {
  const { product, outageMs, log } = world
  const { database, receiver } = world.installation
  const judges = outage.waitsFor !== 'alert'
  const ended = await makeOutage(outage, world)
  const { fresh, verdicts, endedAtMs } = ended
  await untilCaughtUp(ended, world, judges)
  await fresh.stop()
  const backlog = ended.backlog.flatMap(load => load.sent)
  await sleep(MINUTE_MS)
  const inspector = await openInspector(product)
  await inspector.untilIdle(WITHIN_MS)
  await Promise.all([inspector.stop(), verdicts.stop()])
  const deliveries = receiver.deliveries()
  const { events, alerts, differences } = await verify(database, [...backlog, ...fresh.sent], deliveries)
  if (differences.length > 0) throw new Error(`A promise is broken: ${differences.join(', ')}`)
  const refused = JSON.stringify([...ended.backlog, fresh].map(({ failures }) => failures))
  log.step('count').done(`${events} events, ${alerts} alerts: 0 lost, 0 doubled; failed tries ${refused}`)
  const { explained } = verdicts
  const readings = readCatchUp({ outageMs, endedAtMs, judges, backlog, fresh: fresh.sent, explained, deliveries })
  if (judges) await checkLastVerdict(database, endedAtMs + (readings[JUDGED] as number) * 1_000)
  return readings
}

/** Stops the part, fills the backlog, starts the part again, and starts the load of new events, which goes on. */
async function makeOutage(outage: Outage, world: World): Promise<EndedOutage> {
  const { perSecond, installation } = world
  const { database } = installation
  const startNew = (since: Timestamp) => ({
    verdicts: watchVerdicts(database, since),
    fresh: startLoadAt(world, 'new', perSecond),
  })
  // The change stream cannot be open while MongoDB is down, so it starts in the past.
  const beforeOutage = await readOperationTime(database)
  const refused = outage.waitsFor === 'acceptance' ? [startLoadAt(world, 'refused', perSecond * REFUSED)] : []
  await outage.stop(world)
  switch (outage.waitsFor) {
    case 'acceptance': {
      await sleep(KAFKA_DOWN_MS)
      await outage.start(world)
      const endedAtMs = Date.now()
      for (const load of refused) void load.stop()
      const started = startNew(beforeOutage)
      return { ...started, endedAtMs, backlog: [...refused, await fillBacklog(world)] }
    }
    case 'verdict': {
      const backlog = await fillBacklog(world)
      await outage.start(world)
      return { endedAtMs: Date.now(), backlog: [backlog], ...startNew(beforeOutage) }
    }
    case 'alert': {
      const backlog = await fillBacklog(world)
      await untilDecided(database, backlog)
      const started = startNew(await readOperationTime(database))
      await sleep(DECIDED_BEFORE_MS)
      await outage.start(world)
      return { endedAtMs: Date.now(), backlog: [backlog], ...started }
    }
    default:
      throw outage.waitsFor satisfies never
  }
}

function startLoadAt(world: World, name: string, perSecond: number, limits?: LoadLimits): Load {
  const { installation, product } = world
  const { connections, report } = installation
  const targets = () => [product.urls.ingress]
  return startLoad({ name, perSecond, ...limits, connections, targets, report, reportedBeforeMs: REPORTED_BEFORE_MS })
}

/** Posts the events of the outage until all are accepted. With MongoDB down their operations are reported later. */
async function fillBacklog(world: World): Promise<Load> {
  const events = (world.perSecond * world.outageMs) / 1_000
  const perSecond = world.perSecond * REPEATED
  const load = startLoadAt(world, 'backlog', perSecond, { most: events, mostPending: perSecond * PENDING_S })
  await until('the backlog', () => load.latenciesMs.length >= events, {
    timeoutMs: WITHIN_MS,
    seen: () => [load.latenciesMs.length, load.failures],
  })
  void load.stop()
  return load
}

/** Waits until every unexplained event of the backlog has its incident. */
async function untilDecided(database: Db, backlog: Load): Promise<void> {
  await backlog.stop()
  const wanted = backlog.sent.filter(({ isExplained }) => !isExplained).length
  const incidents = database.collection('incidents')
  const isDecided = async () => (await incidents.countDocuments({ code: 'UNEXPECTED_ACTION' })) >= wanted
  await until('the incidents of the backlog', isDecided, { timeoutMs: WITHIN_MS, everyMs: 1_000 })
}

/** @throws Error if an event of the backlog outside of the sample was judged clearly later than those in it */
async function checkLastVerdict(database: Db, lastOfSampleMs: number): Promise<void> {
  const [found] = await database
    .collection('actions')
    .aggregate<{ lastAt: string }>([
      { $match: { provider_ref: /^re_backlog/, verdict: 'explained' } },
      { $group: { _id: null, lastAt: { $max: { $last: '$timeline.at' } } } },
    ])
    .toArray()
  const lateMs = Date.parse(found?.lastAt ?? '') - lastOfSampleMs
  if (!(lateMs < LATE_MS))
    throw new Error(`The last verdict of the backlog came ${lateMs} ms after those of the sample`)
}

async function untilCaughtUp({ backlog, verdicts }: EndedOutage, world: World, judges: boolean): Promise<void> {
  for (const load of backlog) await load.stop()
  const { receiver } = world.installation
  const refsOf = (isMeant: (one: SentRefund) => boolean) =>
    backlog.flatMap(({ sent }) => sent.filter(isMeant).map(({ id }) => `re_${id}`))
  const alerted = new Set(receiver.deliveries().filter(isOpened).map(refOf))
  const stopListening = receiver.onDelivery(one => void (isOpened(one) && alerted.add(refOf(one))))
  const hasAllVerdicts = createCoverage(
    judges ? refsOf(one => one.isExplained && isInSample(one)) : [],
    verdicts.explained,
  )
  const hasAllAlerts = createCoverage(
    refsOf(one => !one.isExplained),
    alerted,
  )
  await until('the backlog to be judged and alerted', () => hasAllVerdicts() && hasAllAlerts(), {
    timeoutMs: WITHIN_MS,
    seen: () => ({ explained: verdicts.explained.size, alerted: alerted.size }),
  })
  stopListening()
}

/** The time of MongoDB after its last operation, from which a change stream can start. */
async function readOperationTime(database: Db): Promise<Timestamp> {
  return (await database.command({ ping: 1 })).operationTime as Timestamp
}
