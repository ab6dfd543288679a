import {
  type ConnectionDocument,
  deterministicId,
  type ExpectedChangeDocument,
  isoTime,
  type Operation,
  type OutboxEntry,
  type OutOfBand,
  type Readback,
  type Recheck,
  type Reread,
} from '@backstop/contracts'
import type { Clock } from '@backstop/kit/clock'
import { AppError } from '@backstop/kit/errors'
import type { OutboxPublisher } from '@backstop/kit/outbox'
import { type Case, openIncident, pendingLooks, type Rules, recheckEntry } from '@backstop/verdict'
import { type ReconcileParts, reconcileBatch } from '../batch/reconcile-batch.ts'
import type { WorkItem } from '../batch/work-item.ts'
import { matchingExpectedChanges } from '../store/memory-expected-changes.ts'
import { createMemoryStores, type MemoryContents } from '../store/memory-store.ts'
import type { ReconcilerStores } from '../store/store.ts'
import type { Arrival, History, HistoryContext } from './history.ts'

/** The settings of a replay. */
export interface ReplayRules extends Rules {
  /** The setting that replaces the connection's current one; undefined to keep the current one. */
  readonly outOfBandOf: (connection: ConnectionDocument) => OutOfBand | undefined
}

/** The result of a replay. */
export interface ReplayResult {
  readonly cases: readonly Case[]
  /** Events that today's rules refuse as malformed, with the reason. */
  readonly refused: readonly { readonly inboxId: string; readonly reason: string }[]
}

/** How long the provider takes to answer, if the stored data does not show it. */
const ANSWER_TAKES_MS = 1_000
/**
 * If an alert is sent before the provider answered, the dry run assumes the answer this long after the alert, in
 * milliseconds. The reconciler asks again after the same time.
 */
const LATER_ANSWER_AFTER_MS = 60_000

/**
 * Replays a history through the reconciler's own batch code, with stores in memory and virtual time. No provider is
 * asked and no message is sent: a question gets the stored answer, and other messages are dropped.
 * @param until when the replay ends, in milliseconds since the epoch. Later looks are not taken.
 */
export async function runHistory(
  { arrivals, answers }: History,
  surroundings: HistoryContext,
  rules: ReplayRules,
  until: number,
): Promise<ReplayResult> {
  const queue = createQueue([
    ...arrivals,
    ...surroundings.operations.map(arrivalOfOperation),
    ...surroundings.expectedChanges.map(arrivalOfExpectedChange),
  ])
  let now = 0
  const memory = createMemoryStores()
  for (const uses of surroundings.expectedChangeUses) memory.contents.expectedChangeUses.set(uses.id, uses)
  const clock: Clock = { now: () => now, schedule: () => () => {} }
  const publisher: OutboxPublisher = {
    async publish(outboxes) {
      for (const entry of outboxes.flatMap(({ entries }) => entries)) queue.add(repliesTo(entry, answers, now))
      const published = outboxes.map(({ documentId, entries }) => ({
        documentId,
        entryIds: entries.map(({ id }) => id),
      }))
      await memory.cases.outbox.published(published)
      return { stuck: 0 }
    },
  }
  const parts: ReconcileParts = {
    stores: { ...memory, ...storesAsOf(surroundings, rules, clock) },
    ledger: ledgerAsOf(surroundings, clock),
    publisher,
    // Only hints use the producer, and a history has no hints: their re-reads are in the stored data.
    producer: { start: async () => {}, stop: async () => {}, send: async () => {} },
    codec: { encode: () => Buffer.alloc(0) },
    clock,
    rules,
    crashPoint: () => {},
  }
  const queued = new Set<string>()
  const refused: { inboxId: string; reason: string }[] = []
  for (let next = queue.take(until); next !== undefined; next = queue.take(until)) {
    now = Math.max(now, next.at)
    const { item } = next
    try {
      const items = item.kind === 'expected_changes' ? itemsOfOpenIncidents(memory.contents, item.projectId) : [item]
      if (items.length > 0) await reconcileBatch(items, parts)
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'message_invalid') || item.kind !== 'event') throw error
      refused.push({ inboxId: item.inboxId, reason: error.message })
    }
    queue.add([...memory.contents.cases.values()].flatMap(theCase => dueDecisions(theCase, queued)))
  }
  return { cases: [...memory.contents.cases.values()], refused }
}

/** At the same moment, facts arrive before the looks that depend on them. */
const ORDER: Record<WorkItem['kind'], number> = {
  sighting: 0,
  operation: 1,

  event: 2,
  expected_changes: 3,
  erase_personal_data: 4,
  change_incident: 4,
  recheck: 4,
  readback: 5,
}

/** A queue of arrivals in order of time. */
function createQueue(first: readonly Arrival[]) {
  const compare = (a: Arrival, b: Arrival) => a.at - b.at || ORDER[a.item.kind] - ORDER[b.item.kind]
  const waiting = first.toSorted(compare)
  return {
    add(more: readonly Arrival[]) {
      for (const arrival of more) {
        const place = waiting.findIndex(other => compare(arrival, other) < 0)
        waiting.splice(place < 0 ? waiting.length : place, 0, arrival)
      }
    },
    take: (until: number) => ((waiting[0]?.at ?? Number.POSITIVE_INFINITY) > until ? undefined : waiting.shift()),
  }
}

/** The messages that the delay line or the provider would return for an outbox entry. */
function repliesTo({ topic, message }: OutboxEntry, answers: History['answers'], now: number): Arrival[] {
  if (topic === 'rechecks') {
    const recheck = message as Recheck
    return [{ at: Date.parse(recheck.due_at), item: { kind: 'recheck', recheck } }]
  }
  if (topic !== 'rereads') return []
  const reread = message as Reread
  const answer = answers.get(reread.look?.look_id ?? '')
  if (answer === null) return []
  const arrive = (outcome: keyof typeof OUTCOMES, at: number): Arrival => ({
    at,
    item: { kind: 'readback', readback: readbackOf(reread, outcome, at) },
  })
  const at = Math.max(now + ANSWER_TAKES_MS, answer?.at ?? 0)
  const later = answer?.later === undefined ? [] : [arrive(answer.later, at + LATER_ANSWER_AFTER_MS)]
  return [arrive(answer?.outcome ?? 'confirmed', at), ...later]
}

/**
 * Rechecks for the pending decisions of a case. In production the timer for overdue looks requests them.
 * @param queued names of decisions that were requested before
 */
function dueDecisions(theCase: Case, queued: Set<string>): Arrival[] {
  return pendingLooks(theCase).flatMap(({ kind, lookId, dueAt }) => {
    const name = `${lookId} ${dueAt}`
    if (kind !== 'decision' || queued.has(name)) return []
    queued.add(name)
    const recheck = recheckEntry(theCase, lookId, dueAt, dueAt).message as Recheck
    return [{ at: dueAt, item: { kind: 'recheck' as const, recheck } }]
  })
}

const OUTCOMES = { confirmed: 'read', not_found: 'not_found', unavailable: 'unavailable' } as const

/** The answer has no objects, because the history contains them as separate arrivals. */
function readbackOf(reread: Reread, outcome: keyof typeof OUTCOMES, at: number): Readback {
  const { project_id, connection_id, provider, reason, event, look, targets, reread_id } = reread
  const readback_id = deterministicId('readback', reread_id)
  const read_at = isoTime(at)
  const answered = { outcome: OUTCOMES[outcome], failure: null, objects: [] }
  return { readback_id, project_id, connection_id, provider, reason, event, look, targets, read_at, ...answered }
}

/**
 * The ledger keeps only the current state of an operation. The replay uses this state from the time at which the
 * operation began to execute.
 */
function executionStart({ created_at, executing_at }: Operation): number {
  return Math.max(Date.parse(created_at), Date.parse(executing_at ?? created_at))
}

function arrivalOfOperation(operation: Operation): Arrival {
  return { at: executionStart(operation), item: { kind: 'operation', operation } }
}

/** When this item is due, `itemsOfOpenIncidents` replaces it with one item for each case with an open incident. */
function arrivalOfExpectedChange({ project_id, created_at }: ExpectedChangeDocument): Arrival {
  return { at: created_at.getTime(), item: { kind: 'expected_changes', projectId: project_id, ref: '' } }
}

function itemsOfOpenIncidents({ cases }: MemoryContents, projectId: string): WorkItem[] {
  return [...cases.values()]
    .filter(theCase => theCase.projectId === projectId)
    .filter(({ actions }) => actions.some(action => openIncident(action, 'UNEXPECTED_ACTION') !== undefined))
    .map(({ refs: [ref = ''] }) => ({ kind: 'expected_changes', projectId, ref }))
}

function ledgerAsOf({ operations, firstExecutions }: HistoryContext, clock: Clock): ReconcileParts['ledger'] {
  return {
    byReferences: async references =>
      operations.filter(
        operation => executionStart(operation) <= clock.now() && operation.refs.some(ref => references.includes(ref)),
      ),
    hasExecuted: async ids =>
      new Set(ids.filter(id => (firstExecutions.get(id) ?? Number.POSITIVE_INFINITY) <= clock.now())),
  }
}

function storesAsOf(
  { connections, expectedChanges }: HistoryContext,
  { outOfBandOf }: ReplayRules,
  clock: Clock,
): Pick<ReconcilerStores, 'connections' | 'expectedChanges'> {
  return {
    connections: {
      byIds: async ids =>
        new Map(
          ids.flatMap(id => {
            const connection = connections.get(id)
            if (connection === undefined) return []
            const asOf = connectionAsOf(connection, clock.now())
            return [[id, { ...asOf, out_of_band: outOfBandOf(connection) ?? asOf.out_of_band }]]
          }),
        ),
      readable: async () => [],
      projectName: async () => null,
    },
    expectedChanges: {
      find: async query =>
        matchingExpectedChanges(
          query,
          expectedChanges.filter(change => isInEffect(change, clock.now())),
        ),
      byIds: async ids => expectedChanges.filter(change => ids.includes(change._id) && isInEffect(change, clock.now())),
      madeSince: async () => [],
      // A history has no commands, which store expected changes.
      addAll: async () => {},
    },
  }
}

/** True if the expected change was created at this time and not deleted yet. */
function isInEffect({ created_at, deleted_at = null }: ExpectedChangeDocument, now: number): boolean {
  return created_at.getTime() <= now && (deleted_at === null || deleted_at.getTime() > now)
}

/**
 * The state of a connection at this time, with today's settings. A connection of a biller, and a deleted connection, gets
 * a placeholder key, because its data was read with a key, and deletion erases the key.
 */
function connectionAsOf(connection: ConnectionDocument, now: number): ConnectionDocument {
  if (connection.kind !== 'subscription' && connection.deleted_at === null) return { ...connection, status: 'active' }
  const isDeleted = connection.deleted_at !== null && connection.deleted_at.getTime() <= now
  const someKey = { sealed: '', fingerprint: '', created_at: connection.created_at, expires_at: null }
  return { ...connection, status: isDeleted ? 'deleted' : 'active', read_key: connection.read_key ?? someKey }
}
