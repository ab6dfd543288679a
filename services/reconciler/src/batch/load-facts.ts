import type { ConnectionDocument, Operation } from '@backstop/contracts'
import type { Ledger } from '@backstop/ledger'
import { PROVIDERS } from '@backstop/providers'
import type { Case } from '../case/case.ts'
import type { ConnectionPolicy } from '../case/connection-policy.ts'
import type { LookFacts } from '../case/whom-to-ask.ts'
import { canRead } from '../reading/connection-readers.ts'
import type { ReconcilerStores } from '../store/store.ts'
import type { StoredUses } from './claim-expected-changes.ts'
import { loadExpectedChanges, type NamedCase, withUpcomingRefs } from './load-expected-changes.ts'
import { type CaseInput, caseInputOfOperation } from './work-item.ts'

export interface FactSources {
  readonly stores: ReconcilerStores
  readonly ledger: Pick<Ledger, 'byReferences' | 'hasExecuted'>
}

export interface LoadedRound {
  readonly cases: readonly Case[]
  readonly facts: LookFacts
  /**
   * Inputs from the database, applied before those of the messages: the expected changes, and for a second look the
   * operations of the ledger, because the topic of operations may lag.
   */
  readonly loadedInputs: readonly CaseInput[]
  /** How much of each expected change of the cases is used. */
  readonly uses: StoredUses
}

const targetsOf: LookFacts['targetsOf'] = (provider, what) => PROVIDERS[provider].readBack.targetsOf(what)

/**
 * Loads everything that the decisions of a round need, with one read per collection, or two if a look loads operations
 * that name other cases.
 */
export async function loadRound(
  caseInputs: readonly CaseInput[],
  sources: FactSources,
  now: number,
): Promise<LoadedRound> {
  const { stores, ledger } = sources
  const refs = new Set(caseInputs.flatMap(caseInput => [...caseInput.refs]))
  const cases = await stores.cases.load([...refs])
  const looked = casesWithLook(caseInputs, cases)
  if (looked.length === 0) {
    const facts = { policies: new Map(), targetsOf }
    const expected = await loadExpectedChanges(
      caseInputs,
      cases,
      casesNeedingExpectedChanges(caseInputs, cases, looked),
      stores,
      now,
    )
    return { cases, facts, loadedInputs: expected.caseInputs, uses: expected.uses }
  }
  // References that the round's own events link to a payment are included.
  const named = withUpcomingRefs(caseInputs, cases).filter(({ theCase }) => looked.includes(theCase))
  const operations = await ledger.byReferences([...new Set(named.flatMap(one => [...one.refs]))])
  const ids = new Set([...looked.flatMap(connectionsOf), ...operations.map(operation => operation.connection_id)])
  const more = operations.flatMap(operation => operation.refs).filter(ref => !refs.has(ref))
  const [connections, executed, others] = await Promise.all([
    stores.connections.byIds([...ids]),
    ledger.hasExecuted([...ids]),
    stores.cases.load([...new Set(more)]),
  ])
  const policies = new Map([...connections].map(([id, connection]) => [id, policyOf(connection, executed.has(id))]))
  const known = new Set(cases.map(theCase => theCase.id))
  const all = [...cases, ...others.filter(theCase => !known.has(theCase.id))]
  const told = operations.flatMap(
    operation => caseInputOfOperation(operation, 'loaded_fact') ?? caseInputsOfUnsent(operation, named),
  )
  const expected = await loadExpectedChanges(
    [...caseInputs, ...told],
    all,
    casesNeedingExpectedChanges(caseInputs, all, looked),
    stores,
    now,
  )
  const loadedInputs = [...expected.caseInputs, ...told]
  return { cases: all, facts: { policies, targetsOf }, loadedInputs, uses: expected.uses }
}

/** The cases to load expected changes for: cases with a look, and cases with an `expected_change` input. */
function casesNeedingExpectedChanges(
  caseInputs: readonly CaseInput[],
  cases: readonly Case[],
  looked: readonly Case[],
): Case[] {
  const refs = new Set(
    caseInputs.flatMap(caseInput => (caseInput.kind === 'expected_change' ? [...caseInput.refs] : [])),
  )
  if (refs.size === 0) return [...looked]
  return cases.filter(theCase => looked.includes(theCase) || theCase.refs.some(ref => refs.has(ref)))
}

function casesWithLook(caseInputs: readonly CaseInput[], cases: readonly Case[]): Case[] {
  const refs = new Set(caseInputs.flatMap(caseInput => (caseInput.kind === 'look' ? [...caseInput.refs] : [])))
  return refs.size === 0 ? [] : cases.filter(theCase => theCase.refs.some(ref => refs.has(ref)))
}

/**
 * An operation that was never sent to the provider explains nothing and links no cases. The case keeps it only to show
 * why it does not explain the action.
 */
function caseInputsOfUnsent(operation: Operation, named: readonly NamedCase[]): CaseInput[] {
  return named
    .filter(({ refs }) => operation.refs.some(ref => refs.has(ref)))
    .map(({ theCase }) => ({
      kind: 'loaded_news',
      projectId: theCase.projectId,
      refs: theCase.refs.slice(0, 1),
      build: () => ({ kind: 'operation', operation }),
    }))
}

function connectionsOf(theCase: Case): string[] {
  const records = [...theCase.actions, ...theCase.refundTotals]
  const operations = theCase.operations.map(operation => operation.connection_id)
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
