import type { AuditedField } from '@backstop/contracts'
import type { Collection, StoredDocument } from '../store/collection.ts'
import type { AdminCollections } from '../store/stores.ts'
import { listChangedFields, MAX_FIELDS } from './changed-fields.ts'

/** The collections whose changes the audit shows field by field. */
const RECORDED = [
  'projects',
  'connections',
  'channels',
  'apiKeys',
  'people',
  'sessions',
  'signInLinks',
  'expectedChanges',
  'silences',
  'replayRequests',
] as const satisfies readonly (keyof AdminCollections)[]

/**
 * Wraps the collections of a transaction so that every write is recorded with its old and new values. It is done here and not by the
 * routes, so no route can forget it.
 */
export function recordChanges(collections: AdminCollections): {
  readonly recorded: AdminCollections
  readonly changes: readonly AuditedField[]
} {
  const changes: AuditedField[] = []
  const wrapped = RECORDED.map(name => [name, recordWrites(collections[name] as Collection<StoredDocument>, changes)])
  return { recorded: { ...collections, ...Object.fromEntries(wrapped) }, changes }
}

function recordWrites<D extends StoredDocument>(collection: Collection<D>, changes: AuditedField[]): Collection<D> {
  const byId = ({ _id }: D) => collection.find({ _id } as Parameters<Collection<D>['find']>[0])
  return {
    ...collection,
    async insert(document) {
      const isNew = await collection.insert(document)
      if (isNew) changes.push(...listChangedFields(document._id, undefined, document))
      return isNew
    },
    async put(document) {
      const before = await byId(document)
      await collection.put(document)
      changes.push(...listChangedFields(document._id, before, document))
    },
    async putAll(documents) {
      const _id = { in: documents.map(document => document._id) }
      const known = await collection.findAll({ _id } as Parameters<Collection<D>['findAll']>[0])
      const before = new Map(known.map(document => [document._id, document]))
      await collection.putAll(documents)
      const changed = documents.map(document => listChangedFields(document._id, before.get(document._id), document))
      changes.push(...changed.flat().slice(0, MAX_FIELDS))
    },
    async change(where, fields) {
      const before = await collection.find(where)
      const after = await collection.change(where, fields)
      if (after !== undefined) changes.push(...listChangedFields(after._id, before, after))
      return after
    },
    async remove(where) {
      const before = await collection.find(where)
      await collection.remove(where)
      if (before !== undefined) changes.push(...listChangedFields(before._id, before, undefined))
    },
  }
}
