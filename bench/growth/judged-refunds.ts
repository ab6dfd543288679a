/** Has the reconciler judge one refund for each outcome, as patterns for the documents of a history. */
import { incidentAlertId, type Operation, searchKeysOfAction, searchKeysOfOperation } from '@backstop/contracts'
import { until } from '@backstop/kit/test'
import type { Db } from 'mongodb'
import { openReconcilerAlone, type ReconcilerAlone } from '../../test/setup/reconciler-alone.ts'
import { keyOf, makeRefunds, operationOf, type Refund } from '../../test/setup/refunds.ts'
import type { BenchSurroundings } from '../frame/benchmark.ts'
import { type Particulars, patternOf } from './pattern.ts'

/** The collections whose documents belong to one refund. */
export const COLLECTIONS_OF_REFUNDS = [
  'operations',
  'subjects',
  'actions',
  'incidents',
  'inbox',
  'inbox_bodies',
] as const
export type CollectionOfRefunds = (typeof COLLECTIONS_OF_REFUNDS)[number]

/** How a refund was judged: at once, by an operation that came after its alert, or not yet. */
const OUTCOMES = ['explained', 'explained late', 'unexplained'] as const
export type RefundOutcome = (typeof OUTCOMES)[number]

const KEYS_OF: { readonly [Name in CollectionOfRefunds]?: (document: never) => string[] } = {
  actions: searchKeysOfAction,
  operations: searchKeysOfOperation,
}

interface StoredDocument {
  readonly _id: string
  readonly search?: readonly string[]
}

/** The documents of a refund, by collection. */
type DocumentsOfRefund = readonly (readonly [CollectionOfRefunds, StoredDocument])[]
export type Patterns = Readonly<Record<RefundOutcome, (of: Particulars) => DocumentsOfRefund>>

type JudgedRefund = Refund & Pick<Particulars, 'amount' | 'customer'>

const RECHECK_DELAY_MS = 1_000
const WITHIN = { timeoutMs: 60_000 }

export async function judgePatterns(surroundings: Pick<BenchSurroundings, 'stack' | 'folder'>): Promise<Patterns> {
  const world = await openReconcilerAlone({ ...surroundings, name: 'bench-patterns', recheckDelayMs: RECHECK_DELAY_MS })
  try {
    const refunds = await judgeRefunds(world)
    const patterns = OUTCOMES.map(
      async outcome => [outcome, await patternsOf(world.mongo.db, refunds[outcome])] as const,
    )
    return Object.fromEntries(await Promise.all(patterns)) as Patterns
  } finally {
    await world.close()
  }
}

async function judgeRefunds(world: ReconcilerAlone): Promise<Record<RefundOutcome, JudgedRefund>> {
  const sample = { amount: 2_499, customer: 'cus_pattern' }
  const refunds = makeRefunds('pattern', OUTCOMES.length).map((refund, index) => ({
    ...refund,
    ...sample,
    isExplained: OUTCOMES[index] === 'explained',
  }))
  const [explained, late, unexplained] = refunds as [JudgedRefund, JudgedRefund, JudgedRefund]
  const incidents = (query: object) => world.mongo.db.collection('incidents').countDocuments(query)
  const unpublished = () =>
    world.mongo.db.collection('subjects').countDocuments({ 'current.outbox.0': { $exists: true } })
  await world.report(refunds)
  await world.start()
  await world.publishEvents(refunds)
  await until('two incidents', async () => (await incidents({})) === 2, WITHIN)
  await world.report([{ ...late, isExplained: true }])
  await publishOperation(world, late)
  await until('a resolved incident', async () => (await incidents({ state: 'resolved' })) === 1, WITHIN)
  await until('empty outboxes', async () => (await unpublished()) === 0, WITHIN)
  await world.stop()
  return { explained, 'explained late': late, unexplained }
}

async function publishOperation(world: ReconcilerAlone, refund: Refund): Promise<void> {
  const operation: Operation = operationOf(refund)
  const value = world.codec.encode('operation', operation)
  await world.send([{ topic: 'operations', key: keyOf(refund), value, headers: {} }])
}

async function patternsOf(db: Db, refund: JudgedRefund): Promise<Patterns[RefundOutcome]> {
  const subject = `pi_${refund.id}`
  const action = await db.collection<StoredDocument & { incident_id: string | null }>('actions').findOne({ subject })
  const ref = `${refund.projectId}/processor/${subject}`
  const theCase = await db.collection<StoredDocument>('subjects').findOne({ 'current.refs': ref })
  if (action === null || theCase === null) throw new Error(`The reconciler did not judge ${refund.id}`)
  // A text that no document contains, for a refund without an incident.
  const incidentId = action.incident_id ?? 'no incident'
  const { isExplained: _, ...details } = refund
  const alertId = incidentAlertId(incidentId, 'incident.opened')
  const first = { ...details, caseId: theCase._id, actionId: action._id, incidentId, alertId }
  const event = `${refund.connectionId}/evt_${refund.id}`
  const queries: Record<CollectionOfRefunds, object> = {
    operations: { subject },
    subjects: { _id: theCase._id },
    actions: { subject },
    incidents: { _id: incidentId },
    inbox: { _id: event },
    inbox_bodies: { _id: event },
  }
  const found = await Promise.all(
    COLLECTIONS_OF_REFUNDS.map(async name => {
      const document = await db.collection<StoredDocument>(name).findOne(queries[name])
      return document === null ? [] : [[name, patternOf(document, first)] as const]
    }),
  )
  const patterns = found.flat()
  return of => patterns.map(([name, pattern]) => [name, withKeys(name, pattern(of))] as const)
}

/** The keys of searches begin with the month of the document, which no pattern knows. */
function withKeys(name: CollectionOfRefunds, document: StoredDocument): StoredDocument {
  const keysOf = KEYS_OF[name]
  return keysOf === undefined ? document : { ...document, search: keysOf(document as never) }
}
