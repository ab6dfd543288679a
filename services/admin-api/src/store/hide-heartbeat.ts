import { HEARTBEAT } from '@backstop/contracts'
import type { DocumentFilter, ReadCollection, StoredDocument } from './collection.ts'
import type { ReadCollections } from './stores.ts'

/**
 * The collections without the documents of the heartbeat in lists. They are found by their ids and by the id of their project, for a
 * person who looks for the reason why the heartbeat is missing.
 */
export function hideHeartbeat(stores: ReadCollections): ReadCollections {
  const ofProject = { project_id: { not: HEARTBEAT.projectId } }
  return {
    ...stores,
    projects: hideInPages(stores.projects, { _id: { not: HEARTBEAT.projectId } }),
    channels: hideInPages(stores.channels, ofProject),
    deliveries: hideInPages(stores.deliveries, ofProject),
    inbox: hideInPages(stores.inbox, ofProject),
  }
}

/** A request that names the field chooses by itself what it lists. */
function hideInPages<D extends StoredDocument>(
  collection: ReadCollection<D>,
  shown: DocumentFilter<D>,
): ReadCollection<D> {
  return {
    find: where => collection.find(where),
    findAll: where => collection.findAll(where),
    batches: (where, fields) => collection.batches(where, fields),
    page: request => collection.page({ ...request, where: { ...shown, ...withoutUndefined(request.where) } }),
  }
}

/** An undefined value matches everything, so it must not replace the condition. */
function withoutUndefined<D>(where: DocumentFilter<D>): DocumentFilter<D> {
  return Object.fromEntries(Object.entries(where).filter(([, wanted]) => wanted !== undefined)) as DocumentFilter<D>
}
