/**
 * Each service is killed with SIGKILL at each of its crash points and started again. Afterwards nothing may be lost or repeated
 * in the broker, the database and the receiver. Only a delivery whose answer was lost may arrive twice, with the same id.
 *
 * All services share one product. In each round every service that has a crash point left is killed at its next one, while the same
 * refunds are in flight, and so a lost or doubled message of any of them fails the round.
 */
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ShownOperation } from '@backstop/contracts'
import { until } from '@backstop/kit/test'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Product } from '../../scripts/start/product.ts'
import { SERVICES, type ServiceName } from '../../scripts/start/service-environment.ts'
import { isOpened } from '../setup/customer.ts'
import { dataFolder, openProduct } from '../setup/product.ts'
import { openInspector, type ProductInspector } from '../setup/product-inspector.ts'
import { openShop, type Shop } from '../setup/shop.ts'
import { REFUND_CRASH_POINTS } from './points.ts'

const RECHECK_DELAY_MS = 1_500

/** Long, because a service may reach its point only after the services before it were started again. */
const DIES_WITHIN_MS = 150_000

/** The channels that each alert must reach. */
const CHANNELS = 2

/** The crash points of one round: at most one of each service. */
type Round = readonly (readonly [service: ServiceName, point: string])[]

const ROUNDS: readonly Round[] = Array.from(
  { length: Math.max(...Object.values(REFUND_CRASH_POINTS).map(points => points.length)) },
  (_, round) =>
    SERVICES.flatMap(service => {
      const point = REFUND_CRASH_POINTS[service][round]
      return point === undefined ? [] : [[service, point] as const]
    }),
)

const folder = dataFolder('crash-points')
/** The file that names the crash point of a service (kit's crash-points.ts). */
const fileOf = (service: ServiceName) => join(folder, `${service}.crash-point`)
const stops: (() => Promise<void>)[] = []
let product: Product
let inspector: ProductInspector
let shop: Shop
/** Webhook-ids of the deliveries that may arrive twice, because their answer was lost. */
const mayRepeat = new Set<string | undefined>()

beforeAll(async () => {
  product = await openProduct('crash', {
    recheckDelayMs: RECHECK_DELAY_MS,
    serviceEnv: Object.fromEntries(SERVICES.map(service => [service, { CRASH_AT_FILE: fileOf(service) }])),
  })
  stops.push(() => product.stop())
  inspector = await openInspector(product)
  stops.push(() => inspector.stop())
  shop = await openShop(product)
  stops.push(() => shop.stop())
  await shop.api.post('/v1/alert-channels', {
    project_id: shop.projectId,
    name: 'Second',
    events: ['incident.opened', 'incident.resolved'],
    config: { kind: 'webhook', url: `${shop.receiver.url}/second` },
  })
})
afterAll(async () => {
  for (const stop of stops.reverse()) await stop()
})

// A retry would not help: the rounds share a product, and the end of all rounds is checked after the last one.
describe('services that are killed and started again lose and double nothing', { timeout: 400_000, retry: 0 }, () => {
  for (const round of ROUNDS) {
    test(`at ${round.map(([, point]) => point).join(', ')}`, () => killAt(round))
  }

  test('and each alert has arrived once at the end', expectEachAlertOnce)
})

/** Kills services while two refunds are in flight, restarts each of them at once, and checks both verdicts. */
async function killAt(round: Round): Promise<void> {
  const points = round.map(([, point]) => point)
  refuseNext(round.some(needsRetry) ? 1 : 0)
  const receivedBefore = shop.receiver.deliveries().length
  const deadBefore = await countDead()
  const restarts = round.map(([service, point]) => restartAfterCrash(service, point, receivedBefore))
  const unreadable = round.filter(([, point]) => point === 'work.dead-lettered')
  for (const [service] of unreadable) await publishUndecodable(service)

  const payment = shop.pay()
  const explained = shop.processor.refund({ payment_intent: payment.paymentIntent.id, amount: 500 })
  const operation = reportUntilAccepted(payment.paymentIntent.id, explained.id)
  const unexplained = shop.processor.refund({ payment_intent: payment.paymentIntent.id, amount: 2499 })

  await Promise.all(restarts)
  await untilAllChannelsAlerted(unexplained.id)
  const { operation_id } = await operation
  const sentinel = shop.processor.refund({ payment_intent: payment.paymentIntent.id, amount: 77 })
  await untilAllChannelsAlerted(sentinel.id)
  await until(
    `the explanation after ${points}`,
    async () => (await shop.action(explained.id))?.operation_id === operation_id,
  )
  expect(shop.alertsAbout(explained.id), 'alerts about the explained refund').toEqual([])

  const opened = shop.alertsAbout(unexplained.id).filter(isOpened)
  const ids = new Set(opened.map(delivery => delivery.webhookId))
  expect(ids.size, 'distinct deliveries about the unexplained refund').toBe(CHANNELS)
  const dead = await countDead()
  for (const [topic, before] of Object.entries(deadBefore)) {
    const letters = (dead[topic] ?? 0) - before
    // A crash between the dead letter and the commit dead-letters the message twice.
    if (unreadable.some(([service]) => deadTopicOf(service) === topic)) expect(letters, topic).toBeGreaterThan(0)
    else expect(letters, topic).toBe(0)
  }
}

/** Chooses the crash point of a running service, waits until the service dies there, and starts it again. */
async function restartAfterCrash(service: ServiceName, point: string, receivedBefore: number): Promise<void> {
  const process = product.children[service]
  const died = process.exited
  // Renamed, because the service must not read half of the name.
  writeFileSync(`${fileOf(service)}.new`, point)
  renameSync(`${fileOf(service)}.new`, fileOf(service))
  const end = await Promise.race([died, until(`the crash at ${point}`, () => false, { timeoutMs: DIES_WITHIN_MS })])
  expect(end, `the process that was to die at ${point}`).toMatchObject({ signal: 'SIGKILL' })
  if (service === 'notifier') for (const id of await findLostAnswers(receivedBefore)) mayRepeat.add(id)
  await process.restart()
}

/** The ids of deliveries that the receiver answered and that are not recorded as delivered, because the process was killed. */
async function findLostAnswers(receivedBefore: number): Promise<string[]> {
  // During this request the receiver reads the bytes that the killed process had sent.
  await inspector.database.command({ ping: 1 })
  const ids = shop.receiver
    .deliveries()
    .slice(receivedBefore)
    .flatMap(delivery => delivery.webhookId ?? [])
  const recorded = inspector.database
    .collection<{ _id: string }>('deliveries')
    .find({ _id: { $in: ids }, state: 'delivered' })
  const known = new Set((await recorded.toArray()).map(delivery => delivery._id))
  return ids.filter(id => !known.has(id))
}

/** Waits until every channel got the alert about the refund. */
async function untilAllChannelsAlerted(refundId: string): Promise<void> {
  const alerted = () =>
    new Set(shop.alertsAbout(refundId).flatMap(delivery => (isOpened(delivery) ? delivery.path : [])))
  await until(`the alerts about ${refundId} on all channels`, () => alerted().size === CHANNELS, {
    timeoutMs: 60_000,
    seen: () => [...alerted()],
  })
}

/** True for crash points that only a failed delivery reaches. */
function needsRetry([service, point]: Round[number]): boolean {
  return point === 'notifier.after-retry-produce' || (service === 'notifier' && point === 'delay.produced')
}

/** Lets the receiver refuse the next `count` attempts. */
function refuseNext(count: number): void {
  let left = count
  shop.receiver.answerWith(() => ({ kind: 'answer', status: left-- > 0 ? 500 : 200 }))
}

const deadTopicOf = (service: ServiceName) => (service === 'notifier' ? 'deliveries.dead' : 'inbound.dead')

/** The number of dead letters by topic. */
async function countDead(): Promise<Record<string, number>> {
  const topics = [...new Set(SERVICES.map(deadTopicOf))]
  return Object.fromEntries(await Promise.all(topics.map(async topic => [topic, await inspector.count(topic)])))
}

/** Publishes a message that cannot be decoded on a topic of the service. */
async function publishUndecodable(service: ServiceName): Promise<void> {
  const topic = service === 'notifier' ? 'alerts' : 'inbound.processor'
  await inspector.produce(topic, `${shop.projectId}/undecodable`, Buffer.from('not in the wire format'))
}

/** Reports an operation, and repeats the report with the same key until it is accepted. */
function reportUntilAccepted(subject: string, refundId: string): Promise<ShownOperation> {
  return until(
    'the report to be accepted',
    () =>
      shop.report({
        subject,
        amount: 500,
        currency: 'eur',
        state: 'completed',
        provider_ref: refundId,
        idempotency_key: `key-${refundId}`,
      }),
    { timeoutMs: 60_000 },
  )
}

/**
 * Waits until nothing is in flight, so that late messages are included. Then each channel must have each incident once, and each
 * delivery must have arrived once. Only a delivery whose answer was lost may have arrived again, with the same bytes.
 */
async function expectEachAlertOnce(): Promise<void> {
  await inspector.untilIdle(90_000)
  const incidents = await inspector.database.collection('incidents').countDocuments({ project_id: shop.projectId })
  const openedIds = () =>
    new Set(
      shop.receiver
        .deliveries()
        .flatMap(delivery => (delivery.answered === 200 && isOpened(delivery) ? [delivery.webhookId] : [])),
    )
  await until('an alert about each incident on each channel', () => openedIds().size >= incidents * CHANNELS, {
    timeoutMs: 30_000,
    seen: () => openedIds().size,
  })
  const accepted = shop.receiver.deliveries().filter(delivery => delivery.answered === 200)
  const byId = Map.groupBy(accepted, delivery => delivery.webhookId)
  for (const [id, copies] of byId) {
    expect(new Set(copies.map(copy => String(copy.rawBody))).size, `different bodies of delivery ${id}`).toBe(1)
    if (!mayRepeat.has(id)) expect(copies, `accepted deliveries with id ${id}`).toHaveLength(1)
  }
  expect(openedIds().size).toBe(incidents * CHANNELS)
  const recorded = await inspector.database.collection('deliveries').countDocuments({ project_id: shop.projectId })
  const delivered = { project_id: shop.projectId, state: 'delivered' }
  expect(await inspector.database.collection('deliveries').countDocuments(delivered)).toBe(recorded)
  expect(byId.size).toBe(recorded)
}
