import type { Operation } from '@backstop/contracts'
import type { Ledger } from '@backstop/ledger'
import { PROVIDERS } from '@backstop/providers'
import type { Case, ConnectionPolicy, LookFacts } from '@backstop/verdict'
import type { CaseStore } from '../cases/case-store.ts'
import type { ConnectionReader, ConnectionWithAccounts } from '../connections/connection-reader.ts'
import { canRead } from '../reading/connection-readers.ts'
import type { RefusedClaims, StoredUses } from './claim-expected-changes.ts'
import {
  type ExpectedChangeSources,
  loadExpectedChanges,
  type NamedCase,
  withUpcomingRefs,
} from './load-expected-changes.ts'
import { type CaseInput, caseInputsOfOperation } from './work-item.ts'

export interface FactSources {
  readonly stores: ExpectedChangeSources & {
    readonly cases: Pick<CaseStore, 'load'>
    readonly connections: Pick<ConnectionReader, 'byIds' | 'withAccounts'>
  }
  readonly ledger: Pick<Ledger, 'byReferences' | 'hasExecuted'>
}

export interface LoadedRound {
  readonly cases: readonly Case[]
  readonly facts: LookFacts
  /**
   * Inputs from the database, applied before those of the messages: the expected changes, and the operations of the ledger for
   * new references and for second looks.
   */
  readonly loadedInputs: readonly CaseInput[]
  /** How much of each expected change of the cases is used. */
  readonly uses: StoredUses
}

const targetsOf: LookFacts['targetsOf'] = (provider, what) => PROVIDERS[provider].readBack.targetsOf(what)

export interface RoundInputs {
  /** Also those of events that are done. Their cases are loaded, but nothing is decided. */
  readonly all: readonly CaseInput[]
  /** Those that will be decided. */
  readonly open: readonly CaseInput[]
  /** The claims of expected changes that were refused in the round before. */
  readonly refused: RefusedClaims
}

/**
 * Loads everything that the decisions of a round need: the cases, then the operations, then what these need. Each step is one read
 * per collection, unless operations name further references.
 */
export async function loadRound(
  { all, open, refused }: RoundInputs,
  sources: FactSources,
  now: number,
): Promise<LoadedRound> {
  const { stores, ledger } = sources
  const refs = new Set(all.flatMap(caseInput => [...caseInput.refs]))
  const named = await stores.cases.load([...refs])
  const looked = casesWithLook(all, named)
  // References that the round's own events link to a payment are included.
  const upcoming =
    looked.length === 0 ? [] : withUpcomingRefs(all, named).filter(({ theCase }) => looked.includes(theCase))
  const asked = [...refsToAskFor(open, named), ...upcoming.flatMap(named => [...named.refs])]
  const operations = await loadOperations(asked, named, ledger)
  const linked = operations.flatMap(operation => operation.refs).filter(ref => !refs.has(ref))
  const [policies, others] = await Promise.all([
    loadPolicies(looked, operations, sources),
    stores.cases.load([...new Set(linked)]),
  ])
  const ids = new Set(named.map(({ id }) => id))
  const cases = [...named, ...others.filter(({ id }) => !ids.has(id))]
  const fromLedger = operations.flatMap(operation => caseInputsOfLoaded(operation, upcoming))
  const needing = casesNeedingExpectedChanges(all, cases, looked)
  const expected = await loadExpectedChanges([...all, ...fromLedger], cases, needing, stores, { refused, now })
  const loadedInputs = [...expected.caseInputs, ...fromLedger]
  return { cases, facts: { policies, targetsOf }, loadedInputs, uses: expected.uses }
}

/** The references for which events need the ledger: those that belong to no case, because an operation alone makes no case. */
function refsToAskFor(open: readonly CaseInput[], cases: readonly Case[]): string[] {
  const known = new Set(cases.flatMap(theCase => [...theCase.refs]))
  return open.flatMap(({ mayCreate, refs }) => (mayCreate ? refs.filter(ref => !known.has(ref)) : []))
}

/** The operations with these references, and those with further references that these operations have and no case has. */
async function loadOperations(
  refs: readonly string[],
  cases: readonly Case[],
  ledger: FactSources['ledger'],
): Promise<readonly Operation[]> {
  const found = new Map<string, Operation>()
  const asked = new Set(cases.flatMap(theCase => [...theCase.refs]))
  for (let next = new Set(refs); next.size > 0; ) {
    const operations = await ledger.byReferences([...next])
    for (const ref of next) asked.add(ref)
    for (const operation of operations) found.set(operation.operation_id, operation)
    // An operation that was never sent to the provider links nothing.
    const linking = operations.filter(({ executing_at }) => executing_at !== null)
    next = new Set(linking.flatMap(operation => operation.refs).filter(ref => !asked.has(ref)))
  }
  return [...found.values()]
}

/** The policies of all connections that a look may depend on, by connection. */
async function loadPolicies(
  looked: readonly Case[],
  operations: readonly Operation[],
  { stores, ledger }: FactSources,
): Promise<LookFacts['policies']> {
  if (looked.length === 0) return new Map()
  const ids = [...new Set([...looked.flatMap(connectionsOf), ...operations.map(({ connection_id }) => connection_id)])]
  const [connections, executed] = await Promise.all([stores.connections.withAccounts(ids), ledger.hasExecuted(ids)])
  return new Map([...connections].map(([id, connection]) => [id, policyOf(connection, executed.has(id))]))
}

/** The cases to load expected changes for: cases with a look, and cases with an `expected_changes` input. */
function casesNeedingExpectedChanges(
  caseInputs: readonly CaseInput[],
  cases: readonly Case[],
  looked: readonly Case[],
): Case[] {
  const refs = new Set(
    caseInputs.flatMap(caseInput => (caseInput.input.kind === 'expected_changes' ? [...caseInput.refs] : [])),
  )
  if (refs.size === 0) return [...looked]
  return cases.filter(theCase => looked.includes(theCase) || theCase.refs.some(ref => refs.has(ref)))
}

function casesWithLook(caseInputs: readonly CaseInput[], cases: readonly Case[]): Case[] {
  const refs = new Set(
    caseInputs.flatMap(caseInput => (caseInput.input.kind === 'second_look' ? [...caseInput.refs] : [])),
  )
  return refs.size === 0 ? [] : cases.filter(theCase => theCase.refs.some(ref => refs.has(ref)))
}

/**
 * The inputs of an operation of the ledger. An operation that was never sent to the provider explains nothing and links no
 * cases. A case with a look keeps it only to show why it does not explain the action.
 */
function caseInputsOfLoaded(operation: Operation, looked: readonly NamedCase[]): readonly CaseInput[] {
  if (operation.executing_at !== null) return caseInputsOfOperation(operation, { mayCreate: true, isLoaded: true })
  return looked
    .filter(({ refs }) => operation.refs.some(ref => refs.has(ref)))
    .map(({ theCase }) => ({
      projectId: theCase.projectId,
      refs: theCase.refs.slice(0, 1),
      input: { kind: 'operation', operation },
      isLoaded: true,
    }))
}

function connectionsOf(theCase: Case): string[] {
  const records = [...theCase.actions, ...theCase.refundTotals]
  const operations = theCase.operations.map(operation => operation.connection_id)
  return [...records.flatMap(record => record.seenThrough.map(connection => connection.id)), ...operations]
}

function policyOf(connection: ConnectionWithAccounts, hasExecuted: boolean): ConnectionPolicy {
  return {
    connectionId: connection._id,
    provider: connection.kind,
    outOfBand: connection.out_of_band,
    accounts: connection.accounts,
    deleted: connection.status === 'deleted',
    canRead: canRead(connection),
    hasExecuted,
  }
}
