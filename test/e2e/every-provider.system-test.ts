/**
 * Makes 750 refunds, cancellations and other changes, or five thousand in the soak, at the billing accounts of one project. Their events arrive late,
 * twice, in any order or never. Operations report all changes except one in twenty. Exactly the unreported changes must alert,
 * each once.
 *
 * The mix stays within the rate limits that the product keeps (requests per minute besides details: processor 1,000, reseller 150,
 * subscription biller 85). Every event of the biller is read back, so the biller has the fewest changes. The reseller and the processor are
 * swept, and read at the second looks at unexplained actions. The two accounts without read key cannot be read, so they lose no
 * events. The second look happens after twenty seconds instead of one minute.
 */

import { setTimeout } from 'node:timers/promises'
import { EVENTS_TO_TICK } from '@backstop/client/setup-steps'
import type { Action, Operation } from '@backstop/contracts'
import { until } from '@backstop/kit/test'
import { createChance, type ReceivedDelivery } from '@backstop/simulator'
import { afterAll, expect, test } from 'vitest'
import { connectBiller, connectProcessor, connectReseller } from '../setup/accounts.ts'
import { actionOf, type Customer, eventOf, incidentOf, openCustomer } from '../setup/customer.ts'
import { billerChangeKinds } from '../setup/planned-changes/biller.ts'
import {
  type IsRecorded,
  isJudged,
  type MadeChange,
  makeChange,
  nameOf,
  type PlannedChange,
  planChanges,
  shuffled,
} from '../setup/planned-changes/planned-change.ts'
import { processorChangeKinds } from '../setup/planned-changes/processor.ts'
import { resellerChangeKinds } from '../setup/planned-changes/reseller.ts'
import { ALL_PARTITIONS, openProduct } from '../setup/product.ts'
import { openInspector, type ProductInspector } from '../setup/product-inspector.ts'
import { IS_SOAK } from '../setup/soak.ts'

const RECHECK_DELAY_MS = 20_000
const SWEEP_EVERY_MS = 20_000
const AT_ONCE = 24
/** The seed of the plan. The same seed gives the same changes. */
const SEED = 20_251_124
const DISTURBANCE = { copies: 2, delay: { minMs: 0, maxMs: 6_000 } }

const stops: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const stop of stops.reverse()) await stop()
})

test('of the actions at every provider exactly those that nothing explains alert, each once', async () => {
  const product = await openProduct('every', {
    provision: ALL_PARTITIONS,
    recheckDelayMs: RECHECK_DELAY_MS,
    serviceEnv: { reconciler: { SWEEP_EVERY_MS: String(SWEEP_EVERY_MS) } },
  })
  stops.push(() => product.stop())
  const inspector = await openInspector(product)
  stops.push(() => inspector.stop())
  const customer = await openCustomer(product, ['incident.opened', 'incident.resolved', 'drift.detected'])
  stops.push(() => customer.stop())
  const changes = await planAllChanges(customer)

  const recorded = followRecords(inspector, customer.projectId)
  stops.push(recorded.stop)
  const made = await makeAllChanges(changes, recorded.has)

  const byName = new Map(made.flatMap(change => change.names.map(name => [name, change] as const)))
  const expected = made.flatMap(change =>
    change.expectedAlert === null ? [] : [describeAlert(change.expectedAlert, change)],
  )
  const alerts = () => customer.receiver.deliveries().map(delivery => describeDelivery(delivery, byName))
  await until('all expected alerts', () => differenceOf(alerts(), expected).missed.length === 0, {
    timeoutMs: 240_000,
    everyMs: 500,
    seen: () => differenceOf(alerts(), expected),
  })
  await inspector.untilIdle(60_000)
  expect(differenceOf(alerts(), expected)).toEqual({ missed: [], false: [] })

  const { projectId } = customer
  const actions = await inspector.database
    .collection<Action>('actions')
    .find({ project_id: projectId, merged_into: { $exists: false } })
    .toArray()
  expect(countOf(actions.map(({ kind, verdict }) => `${kind} ${verdict}`))).toEqual(countOf(made.flatMap(verdictsOf)))
  // An event about another refund may show the charge of a lost refund. Only a sweep or a read-back finds the id of the refund.
  const refs = new Set(actions.map(({ provider_ref: ref }) => ref))
  const lost = made.filter(change => change.areEventsLost)
  expect(lost).toHaveLength(IS_SOAK ? 50 : 10)
  expect(lost.filter(({ names }) => !refs.has(names[0] ?? null))).toEqual([])
  const operations = inspector.database.collection<Operation>('operations')
  expect(await operations.countDocuments({ project_id: projectId, state: 'awaiting_review' })).toBe(0)
})

/** Connects the accounts and plans all changes. */
async function planAllChanges(customer: Customer): Promise<PlannedChange[]> {
  const chance = createChance(SEED)
  const disturbance = DISTURBANCE
  const events = [...EVENTS_TO_TICK.processor, 'charge.dispute.created']
  const cards = await connectProcessor(customer, { isReadable: true, disturbance, events })
  const till = await connectProcessor(customer, { disturbance, events })
  const oldTill = await connectProcessor(customer, { disturbance, sendsRefundEvents: false })
  const thinCards = await connectProcessor(customer, { isReadable: true, disturbance, payload: 'thin' })
  const reseller = await connectReseller(customer, { isReadable: true, disturbance })
  const biller = await connectBiller(customer, { disturbance: { ...disturbance, falseValuesRate: 0.5 } })
  stops.push(...[cards, till, oldTill, thinCards, reseller, biller].map(account => () => account.stop()))
  let from = 1
  const plan = (kinds: Parameters<typeof planChanges>[0], count: number, unexplained: number, lost: number) => {
    from += count
    return planChanges(kinds, count, from - count, { unexplained, lost }, chance)
  }
  return shuffled(
    [
      ...plan(processorChangeKinds(cards), IS_SOAK ? 1_400 : 200, 0.05, 0.02),
      ...plan(processorChangeKinds(till), IS_SOAK ? 2_050 : 200, 0.05, 0),
      ...plan(processorChangeKinds(oldTill).slice(0, 2), IS_SOAK ? 500 : 60, 0.05, 0),
      // Each of its events is read back.
      ...plan(processorChangeKinds(thinCards).slice(0, 2), 40, 0.1, 0),
      ...plan(resellerChangeKinds(reseller), IS_SOAK ? 1_000 : 200, 0.05, 0.02),
      ...plan(billerChangeKinds(biller, cards), 50, 0.15, 0.04),
    ],
    chance,
  )
}

/** Makes all changes, several at the same time, while their events are posted. */
async function makeAllChanges(changes: readonly PlannedChange[], isRecorded: IsRecorded): Promise<MadeChange[]> {
  const waiting = [...changes]
  const allMade: MadeChange[] = []
  const laterChanges: Promise<void>[] = []
  const work = async () => {
    for (let change = waiting.shift(); change !== undefined; change = waiting.shift()) {
      const { made, laterChange } = await makeChange(change, isRecorded)
      allMade.push(made)
      laterChanges.push(laterChange)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  await Promise.all(laterChanges)
  return allMade
}

/** Polls the recorded actions of the biller, so that `has` answers without a read. */
function followRecords(inspector: ProductInspector, projectId: string): { has: IsRecorded; stop: () => Promise<void> } {
  const refs = new Set<string | null>()
  const actions = inspector.database.collection<Action>('actions')
  const ended = new AbortController()
  const following = (async () => {
    while (!ended.signal.aborted) {
      for (const ref of await actions.distinct('provider_ref', { project_id: projectId, provider: 'subscription' })) {
        refs.add(ref)
      }
      await setTimeout(500, undefined, { signal: ended.signal }).catch(() => {})
    }
  })()
  return {
    has: ref => refs.has(ref),
    stop: () => {
      ended.abort()
      return following
    },
  }
}

const describeAlert = (alert: string, { kind, names, report }: MadeChange) =>
  `${alert}: ${kind.title} (${names[0]}, ${report})`

/** Describes the alert of a delivery and the change that it is about. */
function describeDelivery(delivery: ReceivedDelivery, byName: ReadonlyMap<string, MadeChange>): string {
  const event = eventOf(delivery)
  const action = actionOf(delivery)
  const change = action && byName.get(nameOf(action))
  const alert = event === 'incident.opened' ? incidentOf(delivery)?.code : event
  return change === undefined ? `${alert}: ${JSON.stringify(delivery.body)}` : describeAlert(String(alert), change)
}

/** The expected alerts that are missing, and the alerts that are not expected or repeated. */
function differenceOf(alerts: readonly string[], expected: readonly string[]): { missed: string[]; false: string[] } {
  const left = [...alerts]
  const missed = expected.filter(alert => {
    const at = left.indexOf(alert)
    if (at >= 0) left.splice(at, 1)
    return at < 0
  })
  return { missed, false: left }
}

/** The records of a change, each with its expected verdict. */
function verdictsOf({ kind, expectedAlert }: MadeChange): string[] {
  return kind.records.map(record => {
    if (!isJudged(kind) || !(record === 'refund' || record === 'cancellation')) return `${record} not_alerted`
    return `${record} ${expectedAlert === 'UNEXPECTED_ACTION' ? 'unexplained' : 'explained'}`
  })
}

function countOf(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1
  return counts
}
