import { type ExpectedChangeDocument, idInReference } from '@backstop/contracts'
import type { Case } from '../case/case.ts'
import type { ExpectedChange } from '../case/expected-change.ts'
import { expectedChangesAbout, mayNeedExpectedChange, withExpectedChanges } from '../expected-change/cover-actions.ts'
import { ownIds, usedElsewhere } from '../expected-change/expected-change-uses.ts'
import type { ReconcilerStores } from '../store/store.ts'
import type { StoredUses } from './claim-expected-changes.ts'
import type { Touch } from './work-item.ts'

/** An expected change counts for what was made before it expired, and that may be told days later. */
const COUNTS_FOR_MS = 14 * 86_400_000

/**
 * The expected changes of people that may explain something in a round, for each case those about what it is called, or will be once
 * the round's touches are applied, or about anything.
 * @param looked those of the cases that a look is taken at
 */
export async function loadExpectedChanges(
  touches: readonly Touch[],
  cases: readonly Case[],
  looked: readonly Case[],
  stores: Pick<ReconcilerStores, 'expectedChanges' | 'expectedChangeUses'>,
  now: number,
): Promise<LoadedExpectedChanges> {
  const found = await findExpectedChanges(touches, cases, looked, stores, now)
  const known = new Set(cases.flatMap(({ expectedChanges }) => expectedChanges.map(idOf)))
  const ids = [...new Set([...known, ...[...found.values()].flat().map(idOf)])]
  if (ids.length === 0) return { touches: [], uses: new Map() }
  const [uses, standing] = await Promise.all([
    stores.expectedChangeUses.load(ids),
    known.size === 0 ? [] : stores.expectedChanges.byIds([...known]),
  ])
  const stands = new Set(standing.map(({ _id }) => _id))
  const refreshing = cases.flatMap(theCase => {
    const own = ownIds(theCase)
    const refreshed = [...theCase.expectedChanges, ...(found.get(theCase) ?? [])].map(expectedChange => {
      // One that was taken back covers nothing more; what it covered stays.
      const isTakenBack = known.has(expectedChange.id) && !stands.has(expectedChange.id)
      const used = usedElsewhere(uses.get(expectedChange.id), own)
      const deleted = { ...used, changes: expectedChange.maxChanges, isDeleted: true } as const
      return { ...expectedChange, usedElsewhere: isTakenBack ? deleted : used }
    })
    return withExpectedChanges(theCase, refreshed) === theCase ? [] : [touchOf(theCase, refreshed)]
  })
  return { touches: refreshing, uses }
}

/** The expected changes of a round, and what is taken of them. */
export interface LoadedExpectedChanges {
  readonly touches: readonly Touch[]
  readonly uses: StoredUses
}

function idOf({ id }: ExpectedChange): string {
  return id
}

/** The expected changes that are found for each case. */
async function findExpectedChanges(
  touches: readonly Touch[],
  cases: readonly Case[],
  looked: readonly Case[],
  { expectedChanges }: Pick<ReconcilerStores, 'expectedChanges'>,
  now: number,
): Promise<ReadonlyMap<Case, readonly ExpectedChange[]>> {
  if (looked.length === 0 && !cases.some(mayNeedExpectedChange)) return new Map()
  const named = withComingNames(touches, cases).filter(
    ({ theCase, refs }) =>
      looked.includes(theCase) || (refs.size > theCase.refs.length && mayNeedExpectedChange(theCase)),
  )
  if (named.length === 0) return new Map()
  const found = await expectedChanges.of({
    projectIds: [...new Set(named.map(({ theCase }) => theCase.projectId))],
    names: [...new Set(named.flatMap(({ refs }) => Array.from(refs, idInReference)))],
    expiringAfter: now - COUNTS_FOR_MS,
  })
  const all = found.map(expectedChangeOf)
  return new Map(named.map(({ theCase, refs }) => [theCase, expectedChangesAbout(all, refs)]))
}

function touchOf({ projectId, refs }: Case, expectedChanges: readonly ExpectedChange[]): Touch {
  return {
    kind: 'loaded_news',
    projectId,
    refs: refs.slice(0, 1),
    input: () => ({ kind: 'expected_changes', expectedChanges }),
  }
}

export interface NamedCase {
  readonly theCase: Case
  /** Every reference that leads to it once the touches are applied. */
  readonly refs: ReadonlySet<string>
}

/** Whatever shares a reference becomes one, in whatever order it comes. */
export function withComingNames(touches: readonly Touch[], cases: readonly Case[]): NamedCase[] {
  const groupOf = new Map<string, Set<string>>()
  for (const { refs } of [...cases, ...touches]) {
    const groups = new Set(refs.flatMap(ref => groupOf.get(ref) ?? []))
    const joined = new Set([...refs, ...[...groups].flatMap(group => [...group])])
    for (const ref of joined) groupOf.set(ref, joined)
  }
  return cases.map(theCase => ({ theCase, refs: groupOf.get(theCase.refs[0] ?? '') ?? new Set(theCase.refs) }))
}

function expectedChangeOf(document: ExpectedChangeDocument): ExpectedChange {
  const { _id, project_id, connection_id, kind, subject, amount, currency, created_at, starts_at, expires_at } =
    document
  return {
    id: _id,
    projectId: project_id,
    connectionId: connection_id,
    kind,
    subject,
    amount,
    currency,
    createdAt: created_at.getTime(),
    startsAt: starts_at?.getTime() ?? null,
    expiresAt: expires_at.getTime(),
    maxChanges: document.max_changes ?? 1,
    maxAmount: document.max_amount ?? null,
    usedElsewhere: { changes: 0, amount: 0 },
  }
}
