/**
 * Partitions are added to every topic that allows it while events arrive and second looks are pending. From then on most keys are in
 * other partitions than their earlier messages. No event may be lost, no verdict or alert may be doubled, early or in a wrong order, and
 * all processes must find the new partitions by themselves.
 */
import { type Action, type Incident, TOPICS, type TopicName } from '@backstop/contracts'
import { createTopicAdmin, type TopicAdmin } from '@backstop/kit/bus'
import { createLogger } from '@backstop/kit/logger'
import { until } from '@backstop/kit/test'
import { afterAll, expect, test } from 'vitest'
import { CONSUMERS } from '../../packages/cli/src/doctor/read-infrastructure.ts'
import type { Product } from '../../scripts/start/product.ts'
import { eventOf, incidentOf, isOpened, refOf } from '../setup/customer.ts'
import { scrape } from '../setup/metrics.ts'
import { openProduct } from '../setup/product.ts'
import { openInspector } from '../setup/product-inspector.ts'
import { openShop, type Shop } from '../setup/shop.ts'
import { publishSteadily } from '../setup/steady-load.ts'

const SHOPS = 4
const REFUNDS = 700
const PER_SECOND = 8
/** The refund after which partitions are added. By then the first second looks were made, and others are pending. */
const GROWS_AT = 280
const RECHECK_MS = 15_000
/** docs/sizing.md says why not the compacted topic. */
const GROWN = (Object.keys(TOPICS) as TopicName[]).filter(topic => topic !== 'incidents')
/** Consumer groups of delay lines, besides those of CONSUMERS. */
const DELAY_LINES: Readonly<Record<string, readonly TopicName[]>> = {
  'reconciler.rechecks': ['rechecks'],
  'reconciler.rechecks.unanswered': ['rechecks.unanswered'],
  'reconciler.rereads.retry': ['rereads.retry'],
  'notifier.retry.5s': ['deliveries.retry.5s'],
}
const GROUPS = { ...CONSUMERS, ...DELAY_LINES }
const partitionsAfter = (topic: TopicName) => Math.ceil(TOPICS[topic].partitions * 1.5)

interface Made {
  readonly id: string
  readonly shop: Shop
  readonly atIndex: number
  /** When software reports the operation: with the refund, after the partitions were added, or never. */
  readonly reported: 'at once' | 'later' | 'never'
  report(): Promise<unknown>
}

const stops: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const stop of stops.reverse()) await stop()
})

test('loses, doubles and reorders nothing when partitions are added in the middle of traffic', {
  timeout: 420_000,
}, async () => {
  const product = await openProduct('partitions', { recheckDelayMs: RECHECK_MS })
  stops.push(() => product.stop())
  await product.addInstance('reconciler', 'reconciler-2')
  await product.addInstance('notifier', 'notifier-2')
  const inspector = await openInspector(product)
  stops.push(() => inspector.stop())
  const shops: Shop[] = []
  for (let index = 0; index < SHOPS; index += 1) shops.push(await openShop(product))
  stops.push(async () => void (await Promise.all(shops.map(shop => shop.stop()))))
  const admin = openAdmin(product)
  await admin.connect()
  stops.push(() => admin.stop())

  const made: Made[] = []
  const traffic = publishSteadily<Made>(
    async some => void (await Promise.all(some.map(refund => refund.reported === 'at once' && refund.report()))),
    REFUNDS,
    PER_SECOND,
    index => {
      const refund = makeRefund(shops[index % SHOPS]!, index)
      made.push(refund)
      return refund
    },
  )
  await until('second looks are pending and past', () => made.length >= GROWS_AT, { timeoutMs: 120_000 })
  expect(await pendingLooks(admin, product)).toBeGreaterThan(0)
  for (const topic of GROWN) await admin.addPartitions(product.topicPrefix + topic, partitionsAfter(topic))

  // These explain refunds of before: some wait for their second look, others have alerted and resolve now.
  const later = made.filter(({ reported }) => reported === 'later')
  expect(later.length).toBeGreaterThan(20)
  for (const refund of later) await refund.report()
  await until('every group consumes the new partitions', () => areAssigned(product), { timeoutMs: 90_000 })
  await traffic
  const unexplained = made.filter(({ reported }) => reported === 'never')
  const openedIds = () => new Set(shops.flatMap(shop => shop.receiver.deliveries().filter(isOpened).map(refOf)))
  await until('every unexplained refund alerted', () => unexplained.every(({ id }) => openedIds().has(id)), {
    timeoutMs: 120_000,
    seen: () => `${openedIds().size} of ${unexplained.length}`,
  })
  await inspector.untilIdle(60_000)

  expect(await usedNewPartitions(admin, product)).toEqual(
    expect.arrayContaining(['inbound.processor', 'operations', 'rechecks', 'rechecks.due']),
  )
  expect(await inspector.count('inbound.dead')).toBe(0)
  expect(await inspector.count('deliveries.dead')).toBe(0)
  for (const shop of shops) {
    await checkShop(
      shop,
      made.filter(one => one.shop === shop),
    )
  }
})

function openAdmin(product: Product): TopicAdmin {
  const logger = createLogger('test', 'silent')
  return createTopicAdmin({ brokers: product.urls.kafka.split(','), clientId: 'test', logger })
}

function makeRefund(shop: Shop, index: number): Made {
  const amount = 100 + index
  const payment = shop.pay()
  const { id } = shop.processor.refund({ payment_intent: payment.paymentIntent.id, amount })
  const reported = index % 7 === 0 ? 'never' : index % 7 === 1 && index < GROWS_AT - 8 ? 'later' : 'at once'
  const operation = { subject: payment.paymentIntent.id, amount, currency: 'eur', provider_ref: id, state: 'completed' }
  return { id, shop, atIndex: index, reported, report: () => shop.report(operation) }
}

async function pendingLooks(admin: TopicAdmin, { topicPrefix }: Product): Promise<number> {
  const partitions = await admin.progress(`${topicPrefix}reconciler.rechecks`, `${topicPrefix}rechecks`)
  return partitions.reduce((sum, { next, end }) => sum + Number(end - next), 0)
}

/** True if the processes of each group have all partitions of its topics together. */
async function areAssigned(product: Product): Promise<boolean> {
  const consumers = product.processes().filter(({ service }) => service === 'reconciler' || service === 'notifier')
  const scrapes = await Promise.all(consumers.map(({ opsUrl }) => scrape(opsUrl)))
  return Object.entries(GROUPS).every(([group, topics]) => {
    const assigned = scrapes.reduce((sum, one) => sum + (one.value('kafka_partitions_assigned', { group }) ?? 0), 0)
    return assigned === topics.reduce((sum, topic) => sum + partitionsAfter(topic), 0)
  })
}

/** The consumed topics that have messages in new partitions, all of them processed. */
async function usedNewPartitions(admin: TopicAdmin, { topicPrefix }: Product): Promise<string[]> {
  const used: string[] = []
  for (const [group, topics] of Object.entries(GROUPS)) {
    for (const topic of topics) {
      const progress = await admin.progress(topicPrefix + group, topicPrefix + topic)
      expect(progress, topic).toHaveLength(partitionsAfter(topic))
      const added = progress.filter(({ partition, end }) => partition >= TOPICS[topic].partitions && end > 0n)
      if (added.length > 0 && added.every(({ next, end }) => next === end)) used.push(topic)
    }
  }
  return used
}

async function checkShop(shop: Shop, made: readonly Made[]): Promise<void> {
  const actions = new Map<string, Action[]>()
  for (const action of await shop.actions()) {
    actions.set(action.provider_ref ?? '', [...(actions.get(action.provider_ref ?? '') ?? []), action])
  }
  expect([...actions.keys()].sort()).toEqual(made.map(({ id }) => id).sort())
  const incidents = await shop.incidents()
  for (const { id, reported } of made) {
    const [action, ...others] = actions.get(id) as [Action, ...Action[]]
    expect(others, id).toEqual([])
    expect(action.verdict, `${id}, reported ${reported}`).toBe(reported === 'never' ? 'unexplained' : 'explained')
    const own = incidents.filter(({ action_id }) => action_id === action.action_id)
    const heard = shop.alertsAbout(id)
    expect(heard.map(eventOf), `${id}, reported ${reported}`).toEqual(heardAbout(reported, own))
    const [opened] = heard
    const dueAt = Date.parse(action.second_look_at ?? '')
    if (opened !== undefined) expect(opened.receivedAtMs, `${id} was not early`).toBeGreaterThanOrEqual(dueAt)
  }
  // One delivery for each message: nothing was sent twice.
  const sent = shop.receiver.deliveries().map(delivery => `${incidentOf(delivery)?.incident_id} ${eventOf(delivery)}`)
  expect(new Set(sent).size).toBe(sent.length)
}

/** The messages about one refund, in their order. */
function heardAbout(reported: Made['reported'], incidents: readonly Incident[]): string[] {
  if (reported === 'at once') {
    expect(incidents).toEqual([])
    return []
  }
  if (reported === 'never') {
    expect(incidents.map(({ state }) => state)).toEqual(['open'])
    return ['incident.opened']
  }
  expect(incidents.every(({ state }) => state === 'resolved')).toBe(true)
  expect(incidents.length).toBeLessThanOrEqual(1)
  return incidents.length === 0 ? [] : ['incident.opened', 'incident.resolved']
}
