/**
 * A reconciler with a backlog is killed while it judges new events beside the backlog. In the end every event must have been judged once, and
 * each unexplained refund must have alerted once.
 */
import { createKafkaBus } from '@backstop/kit/bus'
import { createLogger } from '@backstop/kit/logger'
import { until } from '@backstop/kit/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dataFolder, stackUrls } from '../setup/product.ts'
import { openReconcilerAlone, type ReconcilerAlone } from '../setup/reconciler-alone.ts'
import { eventOf, keyOf, makeRefunds, type Refund } from '../setup/refunds.ts'

/** The backlog takes longer than the lane needs to open. */
const BACKLOG = 24_000
const BACKLOG_AGE_MS = 600_000
const NEW = 24
const WITHIN = { timeoutMs: 120_000 }
const stack = stackUrls()
const stops: (() => Promise<void>)[] = []
let reconciler: ReconcilerAlone

beforeAll(async () => {
  const name = `new-events-${process.pid}`
  reconciler = await openReconcilerAlone({ name, stack, folder: dataFolder('new-events'), recheckDelayMs: 1_000 })
  stops.push(() => reconciler.close())
})
afterAll(async () => {
  for (const stop of stops.reverse()) await stop()
})

/** Publishes events as if ingress had accepted them a while ago. */
async function publishOld(refunds: readonly Refund[]): Promise<void> {
  const { topicPrefix, codec } = reconciler
  const logger = createLogger('test', 'silent')
  const now = () => Date.now() - BACKLOG_AGE_MS
  const bus = createKafkaBus({ brokers: stack.kafka.split(','), clientId: 'old-events', topicPrefix, logger, now })
  const producer = bus.producer({ sendTimeoutMs: 60_000 })
  await producer.start()
  const topic = 'inbound.processor'
  await producer.send(
    refunds.map(refund => ({
      ...{ topic, key: keyOf(refund), headers: {} },
      value: codec.encode('inbound-event', eventOf(refund)),
    })),
  )
  await producer.stop()
}

/** The ids of the alerts that were sent so far; a crash may repeat one. */
async function watchAlerts(): Promise<ReadonlySet<string>> {
  const ids = new Set<string>()
  const consumer = reconciler.bus.consumer({
    ...{ groupId: 'new-events.alerts', topics: ['alerts'], commit: 'accepted' },
    async onBatch({ messages }) {
      for (const { value } of messages) ids.add((await reconciler.codec.decode('alert', value)).alert_id)
      return { accepted: messages.length }
    },
    onFatal(error) {
      throw error
    },
  })
  await consumer.start()
  stops.push(() => consumer.stop())
  return ids
}

const lanePartitions = () => reconciler.metric('kafka_partitions_assigned', { group: 'reconciler.new-events' })
const count = (collection: string, filter: object) => reconciler.mongo.db.collection(collection).countDocuments(filter)

/** Publishes unexplained refunds, and waits until they are judged. */
async function judgeNew(name: string): Promise<void> {
  const refunds = makeRefunds(name, NEW).map(refund => ({ ...refund, isExplained: false }))
  await reconciler.publishEvents(refunds)
  const event_id = { $in: refunds.map(({ id }) => `evt_${id}`) }
  await until('the new events', async () => (await count('inbox', { event_id })) === NEW, WITHIN)
}

test('new events are judged before the backlog, and after a kill -9 of the reconciler each event was judged once', async () => {
  const backlog = makeRefunds('old', BACKLOG)
  const alerts = await watchAlerts()
  await reconciler.report(backlog)
  await publishOld(backlog)
  await reconciler.start()
  await until('the lane to be open', async () => (await lanePartitions()) > 0, WITHIN)
  await judgeNew('before')
  expect(await reconciler.committed('reconciler')).toBeLessThan(BACKLOG)
  await reconciler.kill()
  await reconciler.start()
  await judgeNew('after')

  const total = BACKLOG + 2 * NEW
  const unexplained = backlog.filter(({ isExplained }) => !isExplained).length + 2 * NEW
  await until('the backlog', async () => (await reconciler.committed('reconciler')) === total, {
    ...WITHIN,
    seen: () => alerts.size,
  })
  await until('the alerts', () => alerts.size >= unexplained, { ...WITHIN, seen: () => alerts.size })
  await until('the lane to be closed', async () => (await lanePartitions()) === 0, WITHIN)
  expect(await count('inbox', {})).toBe(total)
  expect(await count('actions', {})).toBe(total)
  expect(await count('actions', { verdict: 'explained' })).toBe(total - unexplained)
  expect(await count('incidents', {})).toBe(unexplained)
  expect(alerts.size).toBe(unexplained)
})
