import { searchKeysOfAction } from '@backstop/contracts'
import { foundKey, type SearchIndex } from '../src/store/search-index.ts'
import type { MemoryStores } from './memory-stores.ts'

/** Searches in memory. It finds no operations, because the ledger in memory keeps them elsewhere. */
export function createMemorySearchIndex(stores: Partial<Pick<MemoryStores, 'actions'>>): SearchIndex {
  const index: SearchIndex = {
    async actions({ projectId, prefix, after, limit }) {
      const all = (await stores.actions?.findAll({ project_id: projectId })) ?? []
      return all
        .map(action => ({ ...action, search: searchKeysOfAction(action) }))
        .map(action => ({ action, key: foundKey(action, action.first_seen, prefix) }))
        .filter(({ action, key }) => key !== undefined && key === foundKey(action, action.first_seen, prefix, after))
        .sort(
          (a, b) =>
            (String(a.key) < String(b.key) ? -1 : Number(String(a.key) > String(b.key))) ||
            b.action.first_seen.getTime() - a.action.first_seen.getTime() ||
            (a.action._id < b.action._id ? 1 : -1),
        )
        .slice(0, limit)
        .map(({ action }) => action)
    },
    operations: async () => [],
    async incidentIds(request) {
      const all = { ...request, after: undefined, limit: Number.POSITIVE_INFINITY }
      const found = await index.actions({ ...all, signal: new AbortController().signal })
      return found.flatMap(({ incident_id }) => incident_id ?? []).slice(0, request.limit)
    },
  }
  return index
}
