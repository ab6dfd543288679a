/** Fills a database with the documents of a history of refunds, many times faster than the reconciler judges them. */
import { hash } from 'node:crypto'
import { COLLECTIONS, deterministicId, deterministicOrderedId, incidentAlertId } from '@backstop/contracts'
import { writeIgnoringDuplicates } from '@backstop/kit/mongo'
import type { Db, IndexDescription } from 'mongodb'
import type { Refund } from '../../test/setup/refunds.ts'
import {
  COLLECTIONS_OF_REFUNDS,
  type CollectionOfRefunds,
  type Patterns,
  type RefundOutcome,
} from './judged-refunds.ts'
import type { Particulars } from './pattern.ts'

export interface HistoryPlan {
  /** The number of refunds. */
  readonly count: number
  /** The number of billing connections; those of `connectionsOfRefunds`. */
  readonly connections: number
}

/** The documents of one refund, to be inserted. */
type Inserts = Map<CollectionOfRefunds, { _id: string }[]>

/** The progress, so that an interrupted fill continues. */
interface Progress {
  _id: 'refunds'
  stored: number
  readonly endsAtMs: number
}

const PROGRESS = 'bench_history'
const DAY_MS = 86_400_000
/** The refunds are spread over this time: nearly as long as inbox entries are kept. */
const SPAN_MS = 390 * DAY_MS
/** Younger bodies than this are still kept. */
const BODIES_MS = 13 * DAY_MS
const AT_ONCE = 1_000
const IN_FLIGHT = 4
/** Progress is recorded after this many refunds. */
const STEP = 20_000
/** More documents than this are inserted without their indexes, which are made afterwards. */
const INDEXED_LATER = 50_000
const UNEXPLAINED_ONE_IN = 20
const OPEN_ONE_IN = 1_000

/**
 * Stores the refunds that are missing. It does not wait until they are durable.
 * @param onProgress called with the progress
 */
export async function storeHistory(
  db: Db,
  patterns: Patterns,
  { count, connections }: HistoryPlan,
  onProgress: (progress: string) => void = () => {},
): Promise<void> {
  const progress = db.collection<Progress>(PROGRESS)
  const start: Progress = { _id: 'refunds', stored: 0, endsAtMs: Math.floor(Date.now() / 1_000) * 1_000 }
  const { stored, endsAtMs } = (await progress.findOne({ _id: 'refunds' })) ?? start
  const refundAt = historyOf({ count, connections }, endsAtMs)
  const isLarge = count - stored > INDEXED_LATER
  if (isLarge) for (const name of COLLECTIONS_OF_REFUNDS) await db.collection(name).dropIndexes()
  for (let from = stored; from < count; from += STEP) {
    onProgress(`${from.toLocaleString('en')} of ${count.toLocaleString('en')} refunds`)
    const to = Math.min(from + STEP, count)
    await storeStep(db, from, to, index => {
      const refund = refundAt(index)
      return patterns[outcomeOf(index)](particularsOf(refund)).filter(
        ([name]) => name !== 'inbox_bodies' || endsAtMs - refund.atMs < BODIES_MS,
      )
    })
    await progress.replaceOne({ _id: 'refunds' }, { endsAtMs, stored: to }, { upsert: true })
  }
  for (const name of COLLECTIONS_OF_REFUNDS) {
    onProgress(`indexes of ${name}`)
    await db.collection(name).createIndexes(indexesOf(name))
  }
}

/** The refunds of a stored history. */
export async function storedRefunds(db: Db, plan: HistoryPlan): Promise<Refund[]> {
  const progress = await db.collection<Progress>(PROGRESS).findOne({ _id: 'refunds' })
  if (progress === null) throw new Error(`There is no history in ${db.databaseName}`)
  const refundAt = historyOf(plan, progress.endsAtMs)
  return Array.from({ length: plan.count }, (_, index) => refundAt(index))
}

/** Removes the history, and everything that was stored beside it. */
export async function removeHistory(db: Db): Promise<void> {
  for (const name of [PROGRESS, ...COLLECTIONS_OF_REFUNDS]) await db.collection(name).deleteMany({})
}

/** Refunds of the present that continue the history. @param from the number of the first refund, at least the number of stored ones */
export function presentRefunds(from: number, count: number, connections: number): Required<Refund>[] {
  const atMs = Math.floor(Date.now() / 1_000) * 1_000
  return Array.from({ length: count }, (_, index) => refundOf(from + index, connections, atMs))
}

/** Returns the refund with this number. They are spread evenly over the time of the history. */
function historyOf({ count, connections }: HistoryPlan, endsAtMs: number): (index: number) => Required<Refund> {
  const secondsAgo = (index: number) => Math.round(((count - index) / count) * (SPAN_MS / 1_000))
  return index => refundOf(index, connections, endsAtMs - secondsAgo(index) * 1_000)
}

/** One refund. Its id begins with the time and ends at random, as the provider's do. */
function refundOf(index: number, connections: number, atMs: number): Required<Refund> {
  const random = hash('sha256', String(index), 'hex')
  const number = Number.parseInt(random.slice(0, 8), 16)
  return {
    id: `3${(atMs / 1_000).toString(36)}${random.slice(0, 17)}`,
    projectId: `prj_${index % connections}`,
    connectionId: `con_${index % connections}`,
    atMs,
    isExplained: index % UNEXPLAINED_ONE_IN !== 0,
    amount: 1_000 + (number % 9_000),
    customer: `cus_${random.slice(20, 34)}`,
  }
}

function outcomeOf(index: number): RefundOutcome {
  if (index % UNEXPLAINED_ONE_IN !== 0) return 'explained'
  return index % OPEN_ONE_IN === 0 ? 'unexplained' : 'explained late'
}

/** The ids are derived, so that a fill can be repeated. */
function particularsOf({ isExplained: _, ...refund }: Required<Refund>): Particulars {
  const incidentId = deterministicId('incident', refund.id)
  return {
    ...refund,
    caseId: deterministicId('case', refund.id),
    actionId: deterministicOrderedId('action', refund.atMs, `${refund.projectId}/processor/refund/re_${refund.id}`),
    incidentId,
    alertId: incidentAlertId(incidentId, 'incident.opened'),
  }
}

async function storeStep(
  db: Db,
  from: number,
  to: number,
  documentsOf: (index: number) => ReturnType<Patterns[RefundOutcome]>,
) {
  const writes = new Set<Promise<void>>()
  for (let at = from; at < to; at += AT_ONCE) {
    const inserts: Inserts = new Map()
    for (let index = at; index < Math.min(at + AT_ONCE, to); index++) {
      for (const [name, document] of documentsOf(index)) {
        const list = inserts.get(name)
        if (list === undefined) inserts.set(name, [document])
        else list.push(document)
      }
    }
    const write: Promise<void> = insertAll(db, inserts).then(() => void writes.delete(write))
    writes.add(write)
    if (writes.size >= IN_FLIGHT) await Promise.race(writes)
  }
  await Promise.all(writes)
}

async function insertAll(db: Db, inserts: Inserts): Promise<void> {
  const writes = [...inserts].map(([name, documents]) => {
    const collection = db.collection<{ _id: string }>(name, { writeConcern: { w: 1 } })
    return writeIgnoringDuplicates(() => collection.insertMany(documents, { ordered: false }), documents.length)
  })
  await Promise.all(writes)
}

function indexesOf(name: CollectionOfRefunds): IndexDescription[] {
  return COLLECTIONS[name].indexes.map(index => ({ key: index.keys, ...('options' in index ? index.options : {}) }))
}
