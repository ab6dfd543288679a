import { lostRace } from '@backstop/kit/errors'
import {
  type ExpectedChange,
  type ExpectedChangeUses,
  grantClaims,
  type NeededUses,
  neededUsesOf,
  releaseClaims,
} from '@backstop/verdict'
import type { ExpectedChangeUsesStore } from './expected-change-store.ts'
import type { CaseResult } from './workspace.ts'

export type StoredUses = ReadonlyMap<string, ExpectedChangeUses>

/** The ids of expected changes whose claims were refused, by the id of the case. */
export type RefusedClaims = ReadonlyMap<string, ReadonlySet<string>>

/** Attempts to write a document that other processes write too. After that the batch is deferred. */
const MAX_TRIES = 20

/**
 * Claims the uses of expected changes that these results need. Call it before the results are saved, so that every
 * saved outcome has its uses.
 * @returns the ids of the expected changes that are used up, by the id of the case whose claim was refused; decide these cases again
 */
export async function claimUses(
  results: readonly CaseResult[],
  stored: StoredUses,
  store: ExpectedChangeUsesStore,
): Promise<RefusedClaims> {
  const refused = new Map<string, Set<string>>()
  const needs = results
    .flatMap(({ theCase, before }) => neededUsesOf(theCase, before, stored))
    .filter(need => need.isMore)
  for (const [expectedChange, group] of byExpectedChange(needs)) {
    const claims = group.map(({ claim }) => claim)
    let last: ReadonlySet<string> = new Set()
    await update(expectedChange, store, uses => {
      const granted = grantClaims(uses, expectedChange, claims)
      last = granted.refused
      return granted.next
    })
    for (const id of last) refused.set(id, (refused.get(id) ?? new Set()).add(expectedChange.id))
  }
  return refused
}

/**
 * Releases the expected changes that a case had claimed and no longer needs, e.g. because an operation explains the action
 * now. Call it after the results are saved. If the process crashes before this call, the case keeps its claim until its
 * next decision.
 */
export async function releaseUses(
  results: readonly CaseResult[],
  stored: StoredUses,
  store: ExpectedChangeUsesStore,
): Promise<void> {
  const needs = results.flatMap(({ theCase, before }) => neededUsesOf(theCase, before, stored))
  for (const [expectedChange, group] of byExpectedChange(needs.filter(({ claim }) => claim.surplus.length > 0))) {
    const claims = group.map(({ claim }) => claim)
    await update(expectedChange, store, uses => releaseClaims(uses, claims))
  }
}

function byExpectedChange(needs: readonly NeededUses[]): [ExpectedChange, NeededUses[]][] {
  return [...Map.groupBy(needs, ({ expectedChange }) => expectedChange.id).values()].flatMap(group =>
    group[0] === undefined ? [] : [[group[0].expectedChange, group]],
  )
}

async function update(
  { id, projectId, expiresAt }: ExpectedChange,
  store: ExpectedChangeUsesStore,
  change: (uses: ExpectedChangeUses) => ExpectedChangeUses,
): Promise<void> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const known = (await store.load([id])).get(id) ?? { id, projectId, version: 0, uses: [], expiresAt }
    const next = change(known)
    if (next === known || (await store.save(next))) return
  }
  throw lostRace(`expected change ${id}`)
}
