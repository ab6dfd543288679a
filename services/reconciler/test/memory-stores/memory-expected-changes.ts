import { type ExpectedChangeDocument, partsOfUsesId } from '@backstop/contracts'
import type { ExpectedChangeUses } from '@backstop/verdict'
import {
  type ExpectedChangeStore,
  type ExpectedChangesQuery,
  type ExpectedChangeUsesStore,
  MAX_FOUND_PER_SUBJECT,
} from '../../src/batch/expected-change-store.ts'

/** Expected changes in memory, for simulations. */
export function createMemoryExpectedChanges(expectedChanges: ExpectedChangeDocument[]): ExpectedChangeStore {
  return {
    find: async query => matchingExpectedChanges(query, expectedChanges.filter(isNotDeleted)),
    byIds: async ids => expectedChanges.filter(isNotDeleted).filter(({ _id }) => ids.includes(_id)),
    madeSince: async (since, limit) => {
      const made = expectedChanges.filter(isNotDeleted).filter(({ created_at }) => created_at.getTime() >= since)
      const last = made.toSorted((a, b) => b.created_at.getTime() - a.created_at.getTime())
      return [...Map.groupBy(last, expectedChange => expectedChange.project_id).values()].flatMap(list =>
        list.slice(0, limit),
      )
    },
    addAll: async documents => {
      const isNew = ({ _id: id }: ExpectedChangeDocument) => !expectedChanges.some(({ _id }) => _id === id)
      for (const document of documents) if (isNew(document)) expectedChanges.push(document)
    },
  }
}

/** How much of each expected change is used, in memory. */
export function createMemoryExpectedChangeUses(stored: Map<string, ExpectedChangeUses>): ExpectedChangeUsesStore {
  return {
    allOf: async id => [...stored.values()].filter(uses => partsOfUsesId(uses.id).expectedChangeId === id),
    load: async ids => new Map(ids.flatMap(id => stored.get(id) ?? []).map(uses => [uses.id, uses])),
    save: async next => {
      if ((stored.get(next.id)?.version ?? 0) !== next.version - 1) return false
      stored.set(next.id, structuredClone(next))
      return true
    },
  }
}

/** The expected changes of this list that match a query. */
export function matchingExpectedChanges(
  { projectIds, names, expiringAfter }: ExpectedChangesQuery,
  expectedChanges: readonly ExpectedChangeDocument[],
): ExpectedChangeDocument[] {
  const found = expectedChanges.filter(
    ({ project_id, subject, expires_at }) =>
      projectIds.includes(project_id) &&
      (subject === null || subject === '' || names.includes(subject)) &&
      expires_at.getTime() >= expiringAfter,
  )
  const byObject = Map.groupBy(found, ({ project_id, subject }) => JSON.stringify([project_id, subject]))
  return [...byObject.values()].flatMap(list =>
    list.toSorted((a, b) => b.expires_at.getTime() - a.expires_at.getTime()).slice(0, MAX_FOUND_PER_SUBJECT),
  )
}

function isNotDeleted({ deleted_at = null }: ExpectedChangeDocument): boolean {
  return deleted_at === null
}
