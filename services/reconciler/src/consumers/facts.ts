import type { ConnectionDocument } from '@backstop/contracts'
import type { Ledger } from '@backstop/ledger'
import type { ConnectionPolicy } from '../domain/policy.ts'
import type { Subject } from '../domain/subject.ts'
import type { ReconcilerStores } from '../store/store.ts'
import { type BatchFacts, type Touch, touchOfOperation, type WorkItem } from './work-item.ts'

export interface FactSources {
  readonly stores: ReconcilerStores
  readonly ledger: Pick<Ledger, 'byReferences' | 'hasExecuted'>
}

export interface LoadedRound {
  readonly subjects: readonly Subject[]
  readonly facts: BatchFacts
  /** Operations that the ledger has for what is looked at: the operations topic may lag, so they come before the looks. */
  readonly ledgerTouches: readonly Touch[]
}

/** Everything that the decisions of a round rest on, in one read per collection; two where looks bring operations along. */
export async function loadRound(
  items: readonly WorkItem[],
  touches: readonly Touch[],
  sources: FactSources,
): Promise<LoadedRound> {
  const { stores, ledger } = sources
  const refs = new Set(touches.flatMap(touch => [...touch.refs]))
  const subjects = await stores.subjects.load([...refs])
  const seen = items.flatMap(item => (item.kind === 'event' ? [item.event.connection_id] : []))
  const looked = lookedAt(items, subjects)
  const lookedConnections = new Set(looked.flatMap(connectionsOf))
  const connections = await stores.connections.byIds([...new Set([...seen, ...lookedConnections])])
  if (looked.length === 0) return { subjects, facts: { connections, policies: new Map() }, ledgerTouches: [] }

  const executed = await ledger.hasExecuted([...lookedConnections])
  const policies = new Map([...connections].map(([id, connection]) => [id, policyOf(connection, executed.has(id))]))
  const operations = await ledger.byReferences([...new Set(looked.flatMap(subject => [...subject.refs]))])
  const more = operations.flatMap(operation => operation.refs).filter(ref => !refs.has(ref))
  const known = new Set(subjects.map(subject => subject.id))
  const others = more.length === 0 ? [] : await stores.subjects.load([...new Set(more)])
  return {
    subjects: [...subjects, ...others.filter(subject => !known.has(subject.id))],
    facts: { connections, policies },
    ledgerTouches: operations.flatMap(operation => touchOfOperation(operation) ?? []),
  }
}

function lookedAt(items: readonly WorkItem[], subjects: readonly Subject[]): Subject[] {
  const refs = new Set(items.flatMap(item => (item.kind === 'recheck' ? [item.recheck.ref] : [])))
  return refs.size === 0 ? [] : subjects.filter(subject => subject.refs.some(ref => refs.has(ref)))
}

function connectionsOf(subject: Subject): string[] {
  const records = [...subject.actions, ...subject.refundTotals]
  return records.flatMap(record => record.seenThrough.map(connection => connection.id))
}

function policyOf(connection: ConnectionDocument, hasExecuted: boolean): ConnectionPolicy {
  return {
    connectionId: connection._id,
    outOfBand: connection.out_of_band,
    deleted: connection.status === 'deleted',
    hasExecuted,
  }
}
