import {
  type ExpectedChangeDocument,
  idInReference,
  type LimitInterval,
  type Period,
  partsOfUsesId,
  periodOf,
  usesIdOf,
} from '@backstop/contracts'
import {
  type Case,
  type ExpectedChange,
  expectedChangesAbout,
  isUseOf,
  mayNeedExpectedChange,
  needsVerdict,
  usedElsewhere,
  withExpectedChanges,
} from '@backstop/verdict'
import type { RefusedClaims, StoredUses } from './claim-expected-changes.ts'
import type { ExpectedChangeStore, ExpectedChangeUsesStore } from './expected-change-store.ts'
import type { CaseInput } from './work-item.ts'

/**
 * How long after its expiry an expected change is still loaded. It covers actions made before it expired, and a
 * provider may report these days later.
 */
const LOADED_AFTER_EXPIRY_MS = 14 * 86_400_000

export interface ExpectedChangeSources {
  readonly expectedChanges: Pick<ExpectedChangeStore, 'find' | 'byIds'>
  readonly expectedChangeUses: Pick<ExpectedChangeUsesStore, 'load'>
}

/**
 * Loads the expected changes that may explain actions of the round's cases: those without a subject, and those whose
 * subject is a name of a case, including names that the case gets from the round's inputs.
 * @param looked the cases that have a look in this round
 * @param round.refused the claims that were refused in the round before
 */
export async function loadExpectedChanges(
  caseInputs: readonly CaseInput[],
  cases: readonly Case[],
  looked: readonly Case[],
  stores: ExpectedChangeSources,
  { refused, now }: { readonly refused: RefusedClaims; readonly now: number },
): Promise<LoadedExpectedChanges> {
  const found = await findExpectedChanges(caseInputs, cases, looked, stores, now)
  const known = new Set(cases.flatMap(({ expectedChanges }) => expectedChanges.map(idOf)))
  const ids = [...new Set([...known, ...[...found.values()].flat().map(idOf)])]
  if (ids.length === 0) return { caseInputs: [], uses: new Map() }
  const [uses, standing] = await Promise.all([
    stores.expectedChangeUses.load(ids),
    known.size === 0 ? [] : stores.expectedChanges.byIds([...new Set(Array.from(known, expectedChangeIdOf))]),
  ])
  const stands = new Set(standing.map(({ _id }) => _id))
  const refreshing = cases.flatMap(theCase => {
    const wasRefused = refused.get(theCase.id)
    const refreshed = [...theCase.expectedChanges, ...(found.get(theCase) ?? [])].map(expectedChange => {
      // A deleted expected change covers no further action. Actions that it covers already stay covered.
      const isTakenBack = known.has(expectedChange.id) && !stands.has(expectedChangeIdOf(expectedChange.id))
      // A refused claim counted uses as the case's own that it never got. One may be of an action of another case, which joins it now.
      const isOwn = isUseOf(theCase, wasRefused?.has(expectedChange.id) === true ? 0 : theCase.version)
      const used = usedElsewhere(uses.get(expectedChange.id), isOwn)
      const deleted = { ...used, changes: expectedChange.maxChanges, isDeleted: true } as const
      return { ...expectedChange, usedElsewhere: isTakenBack ? deleted : used }
    })
    return withExpectedChanges(theCase, refreshed) === theCase ? [] : [caseInputOf(theCase, refreshed)]
  })
  return { caseInputs: refreshing, uses }
}

/** The expected changes of a round, and how much of each is used. */
export interface LoadedExpectedChanges {
  readonly caseInputs: readonly CaseInput[]
  readonly uses: StoredUses
}

function idOf({ id }: ExpectedChange): string {
  return id
}

function expectedChangeIdOf(usesId: string): string {
  return partsOfUsesId(usesId).expectedChangeId
}

async function findExpectedChanges(
  caseInputs: readonly CaseInput[],
  cases: readonly Case[],
  looked: readonly Case[],
  { expectedChanges }: ExpectedChangeSources,
  now: number,
): Promise<ReadonlyMap<Case, readonly ExpectedChange[]>> {
  if (looked.length === 0 && !cases.some(mayNeedExpectedChange)) return new Map()
  const named = withUpcomingRefs(caseInputs, cases).filter(
    ({ theCase, refs }) =>
      looked.includes(theCase) || (refs.size > theCase.refs.length && mayNeedExpectedChange(theCase)),
  )
  if (named.length === 0) return new Map()
  const found = await expectedChanges.find({
    projectIds: [...new Set(named.map(({ theCase }) => theCase.projectId))],
    names: [...new Set(named.flatMap(({ refs }) => Array.from(refs, idInReference)))],
    expiringAfter: now - LOADED_AFTER_EXPIRY_MS,
  })
  return new Map(
    named.map(({ theCase, refs }) => [theCase, expectedChangesAbout(expectedChangesOf(found, theCase), refs)]),
  )
}

function caseInputOf({ projectId, refs }: Case, expectedChanges: readonly ExpectedChange[]): CaseInput {
  return {
    projectId,
    refs: refs.slice(0, 1),
    input: { kind: 'expected_changes', expectedChanges },
    isLoaded: true,
  }
}

export interface NamedCase {
  readonly theCase: Case
  /** Every reference that leads to the case once the inputs are applied. */
  readonly refs: ReadonlySet<string>
}

/**
 * The cases with the references that they will have once the inputs are applied. Cases and inputs that share a reference,
 * directly or through others, have the same references.
 */
export function withUpcomingRefs(caseInputs: readonly CaseInput[], cases: readonly Case[]): NamedCase[] {
  const groupOf = new Map<string, Set<string>>()
  for (const { refs } of [...cases, ...caseInputs]) {
    const groups = new Set(refs.flatMap(ref => groupOf.get(ref) ?? []))
    const joined = new Set([...refs, ...[...groups].flatMap(group => [...group])])
    for (const ref of joined) groupOf.set(ref, joined)
  }
  return cases.map(theCase => ({ theCase, refs: groupOf.get(theCase.refs[0] ?? '') ?? new Set(theCase.refs) }))
}

/**
 * The expected changes of a case: with an interval, one for each period in which the case has an action. An action that an operation explains
 * counts, too, because its use may have to be given back.
 */
function expectedChangesOf(documents: readonly ExpectedChangeDocument[], { actions }: Case): readonly ExpectedChange[] {
  const times = actions
    .filter(needsVerdict)
    // A refund that is known only from a total may turn out to be as old as the total before it.
    .flatMap(({ madeFrom, providerCreatedAt }) => [madeFrom ?? providerCreatedAt, providerCreatedAt])
  const byInterval = new Map<LimitInterval, readonly Period[]>()
  const periodsOf = (interval: LimitInterval) => {
    const known = byInterval.get(interval)
    if (known !== undefined) return known
    const periods = new Map(times.map(at => periodOf(interval, at)).map(period => [period.firstDay, period]))
    byInterval.set(interval, [...periods.values()])
    return [...periods.values()]
  }
  return documents.flatMap(document => {
    const whole = expectedChangeOf(document)
    const interval = document.limits?.interval
    if (interval == null) return [whole]
    return periodsOf(interval).map(period => ({
      ...whole,
      id: usesIdOf(document, period.startsAt),
      period: { interval, ...period },
    }))
  })
}

function expectedChangeOf(document: ExpectedChangeDocument): ExpectedChange {
  const { project_id, connection_id, kind, limits, amount, currency, created_at, starts_at, expires_at } = document
  return {
    id: usesIdOf(document, created_at.getTime()),
    projectId: project_id,
    ...(document.incident_id == null ? {} : { incidentId: document.incident_id }),
    connectionId: connection_id,
    kind,
    subject: limits === undefined ? document.subject : limits.subject,
    amount,
    currency,
    createdAt: created_at.getTime(),
    startsAt: starts_at?.getTime() ?? null,
    expiresAt: expires_at.getTime(),
    ...(limits?.customer_id == null ? {} : { customerId: limits.customer_id }),
    ...(limits?.actor_id == null ? {} : { actorId: limits.actor_id }),
    maxChanges: document.max_changes ?? 1,
    maxAmount: document.max_amount ?? null,
    usedElsewhere: { changes: 0, amount: 0 },
  }
}
