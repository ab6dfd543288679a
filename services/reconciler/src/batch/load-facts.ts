import type { ConnectionDocument, Operation } from '@backstop/contracts'
import type { Ledger } from '@backstop/ledger'
import { PROVIDERS } from '@backstop/providers'
import type { Subject } from '../case/case.ts'
import type { ConnectionPolicy } from '../case/connection-policy.ts'
import type { LookFacts } from '../case/whom-to-ask.ts'
import { canRead } from '../reading/connection-readers.ts'
import type { ReconcilerStores } from '../store/store.ts'
import type { StoredUses } from './claim-expected-changes.ts'
import { type Named, touchesOfNotes, withNamesToCome } from './load-expected-changes.ts'
import { type Touch, touchOfOperation } from './work-item.ts'

export interface FactSources {
  readonly stores: ReconcilerStores
  readonly ledger: Pick<Ledger, 'byReferences' | 'hasExecuted'>
}

export interface LoadedRound {
  readonly subjects: readonly Subject[]
  readonly facts: LookFacts
  /**
   * What comes before all else: the notes of people, and the operations that the ledger has for what is looked at, because
   * the operations topic may lag.
   */
  readonly ledgerTouches: readonly Touch[]
  /** What is taken of the expected changes of the subjects. */
  readonly uses: StoredUses
}

const targetsOf: LookFacts['targetsOf'] = (provider, what) => PROVIDERS[provider].readBack.targetsOf(what)

/** Everything that the decisions of a round rest on, in one read per collection; two where looks bring operations along. */
export async function loadRound(touches: readonly Touch[], sources: FactSources, now: number): Promise<LoadedRound> {
  const { stores, ledger } = sources
  const refs = new Set(touches.flatMap(touch => [...touch.refs]))
  const subjects = await stores.subjects.load([...refs])
  const looked = lookedAt(touches, subjects)
  if (looked.length === 0) {
    const facts = { policies: new Map(), targetsOf }
    const noted = await touchesOfNotes(touches, subjects, wanting(touches, subjects, looked), stores, now)
    return { subjects, facts, ledgerTouches: noted.touches.map(brought), uses: noted.uses }
  }
  // What the round's own events link to a payment counts as its name already.
  const named = withNamesToCome(touches, subjects).filter(({ subject }) => looked.includes(subject))
  const operations = await ledger.byReferences([...new Set(named.flatMap(one => [...one.refs]))])
  const ids = new Set([...looked.flatMap(connectionsOf), ...operations.map(operation => operation.connection_id)])
  const connections = await stores.connections.byIds([...ids])
  const executed = await ledger.hasExecuted([...ids])
  const policies = new Map([...connections].map(([id, connection]) => [id, policyOf(connection, executed.has(id))]))
  const more = operations.flatMap(operation => operation.refs).filter(ref => !refs.has(ref))
  const known = new Set(subjects.map(subject => subject.id))
  const others = more.length === 0 ? [] : await stores.subjects.load([...new Set(more)])
  const all = [...subjects, ...others.filter(subject => !known.has(subject.id))]
  const told = operations.flatMap(operation => touchOfOperation(operation) ?? touchesOfUnsent(operation, named))
  const noted = await touchesOfNotes([...touches, ...told], all, wanting(touches, all, looked), stores, now)
  const ledgerTouches = [...noted.touches, ...told].map(brought)
  return { subjects: all, facts: { policies, targetsOf }, ledgerTouches, uses: noted.uses }
}

function brought(touch: Touch): Touch {
  return { ...touch, isBrought: true }
}

/** Those that the notes about are looked up for: what is looked at, and what asks for them. */
function wanting(touches: readonly Touch[], subjects: readonly Subject[], looked: readonly Subject[]): Subject[] {
  const refs = new Set(touches.flatMap(touch => (touch.wantsNotes === true ? [...touch.refs] : [])))
  if (refs.size === 0) return [...looked]
  return subjects.filter(subject => looked.includes(subject) || subject.refs.some(ref => refs.has(ref)))
}

function lookedAt(touches: readonly Touch[], subjects: readonly Subject[]): Subject[] {
  const refs = new Set(touches.flatMap(touch => (touch.looks ? [...touch.refs] : [])))
  return refs.size === 0 ? [] : subjects.filter(subject => subject.refs.some(ref => refs.has(ref)))
}

/** An operation that was never sent explains nothing and joins nothing: each look only says why. */
function touchesOfUnsent(operation: Operation, named: readonly Named[]): Touch[] {
  return named
    .filter(({ refs }) => operation.refs.some(ref => refs.has(ref)))
    .map(({ subject }) => ({
      projectId: subject.projectId,
      refs: subject.refs.slice(0, 1),
      input: () => ({ kind: 'operation', operation }),
      creates: false,
      looks: false,
    }))
}

function connectionsOf(subject: Subject): string[] {
  const records = [...subject.actions, ...subject.refundTotals]
  const operations = subject.operations.map(operation => operation.connection_id)
  return [...records.flatMap(record => record.seenThrough.map(connection => connection.id)), ...operations]
}

function policyOf(connection: ConnectionDocument, hasExecuted: boolean): ConnectionPolicy {
  return {
    connectionId: connection._id,
    provider: connection.kind,
    outOfBand: connection.out_of_band,
    deleted: connection.status === 'deleted',
    canRead: canRead(connection),
    hasExecuted,
  }
}
