/**
 * Each service is killed with SIGKILL at each of its crash points and started again. The broker, the database and the receiver must
 * then have everything once, except deliveries whose answer was lost, which may arrive twice under the same id.
 */
import type { ShownOperation } from '@backstop/contracts'
import { until } from '@backstop/kit/test'
import { afterAll, describe, expect, test } from 'vitest'
import type { Product } from '../../scripts/start/product.ts'
import type { ServiceName } from '../../scripts/start/service-environment.ts'
import { isOpened } from '../world/customer.ts'
import { openTruth, type Truth } from '../world/ledger-of-truth.ts'
import { openProduct } from '../world/product.ts'
import { openShop, type Shop } from '../world/shop.ts'
import { POINTS } from './points.ts'

const RECHECK_DELAY_MS = 1_500

/** The channels that each alert must reach. */
const CHANNELS = 2

const stops: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const stop of stops.reverse()) await stop()
})

interface Scene {
  readonly product: Product
  readonly truth: Truth
  readonly shop: Shop
  /** Webhook-ids of deliveries whose answer was lost. Only these may arrive twice. */
  readonly mayBeDoubled: Set<string | undefined>
}

async function openScene(service: ServiceName): Promise<Scene> {
  const product = await openProduct(`crash-${service}`, { recheckDelayMs: RECHECK_DELAY_MS })
  stops.push(() => product.stop())
  const truth = await openTruth(product)
  stops.push(() => truth.stop())
  const shop = await openShop(product)
  await shop.api.post('/v1/alert-channels', {
    project_id: shop.projectId,
    name: 'Second',
    events: ['incident.opened', 'incident.resolved'],
    config: { kind: 'webhook', url: `${shop.receiver.url}/second` },
  })
  stops.push(() => shop.stop())
  return { product, truth, shop, mayBeDoubled: new Set() }
}

describe.concurrent('killed and started again', { timeout: 420_000 }, () => {
  for (const [service, points] of Object.entries(POINTS) as [ServiceName, readonly string[]][]) {
    test(`${service} loses and doubles nothing at any of: ${points.join(', ')}`, async () => {
      const scene = await openScene(service)
      for (const point of points) await killAt(scene, service, point)
      await expectAllSettled(scene)
    })
  }
})

/** One round: the process is killed at the point while two refunds are in flight, restarts, and both verdicts are right. */
async function killAt(scene: Scene, service: ServiceName, point: string): Promise<void> {
  const { product, shop, truth, mayBeDoubled } = scene
  const process = product.children[service]
  await process.restart({ CRASH_AT: point })
  const died = process.exited
  const refusals = point === 'delay.produced' && service === 'notifier' ? 1 : needsRetry(point) ? 1 : 0
  refuseFirst(shop, refusals)
  const receivedBefore = shop.receiver.deliveries().length
  const parkedBefore = await truth.count(deadTopicOf(service))
  if (point === 'work.dead-lettered') await poison(scene, service)

  const payment = shop.pay()
  const explained = shop.processor.refund({ payment_intent: payment.paymentIntent.id, amount: 500 })
  const operation = reportUntilTaken(shop, payment.paymentIntent.id, explained.id)
  const unexplained = shop.processor.refund({ payment_intent: payment.paymentIntent.id, amount: 2499 })

  const end = await Promise.race([died, until(`the crash at ${point}`, () => false, { timeoutMs: 60_000 })])
  expect(end, `the process that was to die at ${point}`).toMatchObject({ signal: 'SIGKILL' })
  if (service === 'notifier') for (const id of await answersLost(scene, receivedBefore)) mayBeDoubled.add(id)
  await process.restart()

  await alertedOnAll(shop, unexplained.id)
  const { operation_id } = await operation
  const sentinel = shop.processor.refund({ payment_intent: payment.paymentIntent.id, amount: 77 })
  await alertedOnAll(shop, sentinel.id)
  await until(
    `the explanation after ${point}`,
    async () => (await shop.action(explained.id))?.operation_id === operation_id,
  )
  expect(shop.alertsAbout(explained.id), `alerts about the explained refund after ${point}`).toEqual([])

  const opened = shop.alertsAbout(unexplained.id).filter(isOpened)
  const ids = new Set(opened.map(delivery => delivery.webhookId))
  expect(ids.size, `distinct deliveries about the unexplained refund after ${point}`).toBe(CHANNELS)
  const parked = (await truth.count(deadTopicOf(service))) - parkedBefore
  // A crash between the dead letter and the commit dead-letters the message twice.
  if (point === 'work.dead-lettered') expect(parked, 'dead letters of the poison').toBeGreaterThan(0)
  else expect(parked, `dead letters after ${point}`).toBe(0)
}

/** Deliveries of this round that were answered but not recorded, because they were in flight. */
async function answersLost({ truth, shop }: Scene, receivedBefore: number): Promise<string[]> {
  // Lets the receiver read what the killed process had sent.
  await truth.database.command({ ping: 1 })
  const ids = shop.receiver
    .deliveries()
    .slice(receivedBefore)
    .flatMap(one => one.webhookId ?? [])
  const recorded = truth.database
    .collection<{ _id: string }>('deliveries')
    .find({ _id: { $in: ids }, state: 'delivered' })
  const known = new Set((await recorded.toArray()).map(one => one._id))
  return ids.filter(id => !known.has(id))
}

/** Waits until every channel got the alert about the refund. */
async function alertedOnAll(shop: Shop, refundId: string): Promise<void> {
  const told = () => new Set(shop.alertsAbout(refundId).flatMap(one => (isOpened(one) ? one.path : [])))
  await until(`all channels to be told of ${refundId}`, () => told().size === CHANNELS, {
    timeoutMs: 60_000,
    seen: () => [...told()],
  })
}

/** Crash points on the path of a failed delivery. */
function needsRetry(point: string): boolean {
  return point === 'notifier.after-retry-produce'
}

/** The receiver refuses the first attempts from now on. */
function refuseFirst(shop: Shop, count: number): void {
  let left = count
  shop.receiver.answerWith(() => ({ kind: 'answer', status: left-- > 0 ? 500 : 200 }))
}

const deadTopicOf = (service: ServiceName) => (service === 'notifier' ? 'deliveries.dead' : 'inbound.dead')

/** Puts a message that cannot be decoded on a topic of the service. */
async function poison({ truth, shop }: Scene, service: ServiceName): Promise<void> {
  const topic = service === 'notifier' ? 'alerts' : 'inbound.processor'
  await truth.produce(topic, `${shop.projectId}/poison`, Buffer.from('not in the wire format'))
}

/** Reports an operation, and repeats it with the same key until there is an answer. */
function reportUntilTaken(shop: Shop, subject: string, refundId: string): Promise<ShownOperation> {
  return until(
    'the report to be taken',
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
 * Checked when nothing is in flight, so that late messages count too: each channel got each incident once, and each delivery arrived
 * once, except those whose answer was lost, which arrived again with the same bytes.
 */
async function expectAllSettled({ truth, shop, mayBeDoubled }: Scene): Promise<void> {
  await truth.untilAtRest(90_000)
  const taken = shop.receiver.deliveries().filter(delivery => delivery.answered === 200)
  const byId = Map.groupBy(taken, delivery => delivery.webhookId)
  for (const [id, copies] of byId) {
    expect(new Set(copies.map(copy => String(copy.rawBody))).size, `different bodies of delivery ${id}`).toBe(1)
    if (!mayBeDoubled.has(id)) expect(copies, `deliveries taken as ${id}`).toHaveLength(1)
  }
  const opened = [...byId.values()].filter(([first]) => first !== undefined && isOpened(first))
  const incidents = await truth.database.collection('incidents').countDocuments({ project_id: shop.projectId })
  expect(opened).toHaveLength(incidents * CHANNELS)
  const recorded = await truth.database.collection('deliveries').countDocuments({ project_id: shop.projectId })
  const delivered = { project_id: shop.projectId, state: 'delivered' }
  expect(await truth.database.collection('deliveries').countDocuments(delivered)).toBe(recorded)
  expect(byId.size).toBe(recorded)
}
