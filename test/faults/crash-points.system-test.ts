/**
 * Each service is killed with SIGKILL at each of its crash points and started again. Afterwards nothing may be lost or repeated
 * in the broker, the database and the receiver. Only a delivery whose answer was lost may arrive twice, with the same id.
 */
import type { ShownOperation } from '@backstop/contracts'
import { until } from '@backstop/kit/test'
import { afterAll, describe, expect, test } from 'vitest'
import type { Product } from '../../scripts/start/product.ts'
import type { ServiceName } from '../../scripts/start/service-environment.ts'
import { isOpened } from '../setup/customer.ts'
import { openProduct } from '../setup/product.ts'
import { openInspector, type ProductInspector } from '../setup/product-inspector.ts'
import { openShop, type Shop } from '../setup/shop.ts'
import { REFUND_CRASH_POINTS } from './points.ts'

const RECHECK_DELAY_MS = 1_500

/** The channels that each alert must reach. */
const CHANNELS = 2

const stops: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const stop of stops.reverse()) await stop()
})

interface Surroundings {
  readonly product: Product
  readonly inspector: ProductInspector
  readonly shop: Shop
  /** Webhook-ids of the deliveries that may arrive twice, because their answer was lost. */
  readonly mayRepeat: Set<string | undefined>
}

async function openSurroundings(service: ServiceName): Promise<Surroundings> {
  const product = await openProduct(`crash-${service}`, { recheckDelayMs: RECHECK_DELAY_MS })
  stops.push(() => product.stop())
  const inspector = await openInspector(product)
  stops.push(() => inspector.stop())
  const shop = await openShop(product)
  await shop.api.post('/v1/alert-channels', {
    project_id: shop.projectId,
    name: 'Second',
    events: ['incident.opened', 'incident.resolved'],
    config: { kind: 'webhook', url: `${shop.receiver.url}/second` },
  })
  stops.push(() => shop.stop())
  return { product, inspector, shop, mayRepeat: new Set() }
}

describe.concurrent('killed and started again', { timeout: 420_000 }, () => {
  for (const [service, points] of Object.entries(REFUND_CRASH_POINTS) as [ServiceName, readonly string[]][]) {
    test(`${service} loses and doubles nothing at any of: ${points.join(', ')}`, async () => {
      const scene = await openSurroundings(service)
      for (const point of points) await killAt(scene, service, point)
      await expectEachAlertOnce(scene)
    })
  }
})

/** Kills the process at a crash point while two refunds are in flight, restarts it, and checks both verdicts. */
async function killAt(scene: Surroundings, service: ServiceName, point: string): Promise<void> {
  const { product, shop, inspector, mayRepeat } = scene
  const process = product.children[service]
  await process.restart({ CRASH_AT: point })
  const died = process.exited
  const refusals = point === 'delay.produced' && service === 'notifier' ? 1 : needsRetry(point) ? 1 : 0
  refuseNext(shop, refusals)
  const receivedBefore = shop.receiver.deliveries().length
  const deadBefore = await inspector.count(deadTopicOf(service))
  if (point === 'work.dead-lettered') await publishUndecodable(scene, service)

  const payment = shop.pay()
  const explained = shop.processor.refund({ payment_intent: payment.paymentIntent.id, amount: 500 })
  const operation = reportUntilAccepted(shop, payment.paymentIntent.id, explained.id)
  const unexplained = shop.processor.refund({ payment_intent: payment.paymentIntent.id, amount: 2499 })

  const end = await Promise.race([died, until(`the crash at ${point}`, () => false, { timeoutMs: 60_000 })])
  expect(end, `the process that was to die at ${point}`).toMatchObject({ signal: 'SIGKILL' })
  if (service === 'notifier') for (const id of await findLostAnswers(scene, receivedBefore)) mayRepeat.add(id)
  await process.restart()

  await untilAllChannelsAlerted(shop, unexplained.id)
  const { operation_id } = await operation
  const sentinel = shop.processor.refund({ payment_intent: payment.paymentIntent.id, amount: 77 })
  await untilAllChannelsAlerted(shop, sentinel.id)
  await until(
    `the explanation after ${point}`,
    async () => (await shop.action(explained.id))?.operation_id === operation_id,
  )
  expect(shop.alertsAbout(explained.id), `alerts about the explained refund after ${point}`).toEqual([])

  const opened = shop.alertsAbout(unexplained.id).filter(isOpened)
  const ids = new Set(opened.map(delivery => delivery.webhookId))
  expect(ids.size, `distinct deliveries about the unexplained refund after ${point}`).toBe(CHANNELS)
  const dead = (await inspector.count(deadTopicOf(service))) - deadBefore
  // A crash between the dead letter and the commit dead-letters the message twice.
  if (point === 'work.dead-lettered') expect(dead, 'dead letters of the undecodable message').toBeGreaterThan(0)
  else expect(dead, `dead letters after ${point}`).toBe(0)
}

/** The ids of deliveries that the receiver answered and that are not recorded as delivered, because the process was killed. */
async function findLostAnswers({ inspector, shop }: Surroundings, receivedBefore: number): Promise<string[]> {
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
async function untilAllChannelsAlerted(shop: Shop, refundId: string): Promise<void> {
  const alerted = () =>
    new Set(shop.alertsAbout(refundId).flatMap(delivery => (isOpened(delivery) ? delivery.path : [])))
  await until(`the alerts about ${refundId} on all channels`, () => alerted().size === CHANNELS, {
    timeoutMs: 60_000,
    seen: () => [...alerted()],
  })
}

/** True for crash points that only a failed delivery reaches. */
function needsRetry(point: string): boolean {
  return point === 'notifier.after-retry-produce'
}

/** Lets the receiver refuse the next `count` attempts. */
function refuseNext(shop: Shop, count: number): void {
  let left = count
  shop.receiver.answerWith(() => ({ kind: 'answer', status: left-- > 0 ? 500 : 200 }))
}

const deadTopicOf = (service: ServiceName) => (service === 'notifier' ? 'deliveries.dead' : 'inbound.dead')

/** Publishes a message that cannot be decoded on a topic of the service. */
async function publishUndecodable({ inspector, shop }: Surroundings, service: ServiceName): Promise<void> {
  const topic = service === 'notifier' ? 'alerts' : 'inbound.processor'
  await inspector.produce(topic, `${shop.projectId}/undecodable`, Buffer.from('not in the wire format'))
}

/** Reports an operation, and repeats the report with the same key until it is accepted. */
function reportUntilAccepted(shop: Shop, subject: string, refundId: string): Promise<ShownOperation> {
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
async function expectEachAlertOnce({ inspector, shop, mayRepeat }: Surroundings): Promise<void> {
  await inspector.untilIdle(90_000)
  const accepted = shop.receiver.deliveries().filter(delivery => delivery.answered === 200)
  const byId = Map.groupBy(accepted, delivery => delivery.webhookId)
  for (const [id, copies] of byId) {
    expect(new Set(copies.map(copy => String(copy.rawBody))).size, `different bodies of delivery ${id}`).toBe(1)
    if (!mayRepeat.has(id)) expect(copies, `accepted deliveries with id ${id}`).toHaveLength(1)
  }
  const opened = [...byId.values()].filter(([first]) => first !== undefined && isOpened(first))
  const incidents = await inspector.database.collection('incidents').countDocuments({ project_id: shop.projectId })
  expect(opened).toHaveLength(incidents * CHANNELS)
  const recorded = await inspector.database.collection('deliveries').countDocuments({ project_id: shop.projectId })
  const delivered = { project_id: shop.projectId, state: 'delivered' }
  expect(await inspector.database.collection('deliveries').countDocuments(delivered)).toBe(recorded)
  expect(byId.size).toBe(recorded)
}
