import { type AuditDocument, type AuditedField, deterministicId } from '@backstop/contracts'
import type { Identity } from '../access/rules/access.ts'
import type { Collection, StoredDocument } from '../store/collection.ts'
import type { AdminCollections, AdminStores } from '../store/stores.ts'
import { listChangedFields, MAX_FIELDS } from './changed-fields.ts'
import type { AuditedChange, RouteRequest } from './route.ts'

/** The caller of a change, as stored in the audit row. */
export interface AuditedRequester {
  readonly identity: Pick<Identity, 'kind' | 'id' | 'name' | 'sessionId'>
  readonly requestId: string
  /** Undefined after the connection closed. */
  readonly address: string | undefined
  readonly now: Date
}

/** Creates `RouteRequest.change`, which writes a change and its audit rows in one transaction. */
export function changeWithAuditRow(
  stores: Pick<AdminStores, 'transaction'>,
  newId: RouteRequest<never, never, never>['newId'],
  requester: AuditedRequester,
): RouteRequest<never, never, never>['change'] {
  return (write, describeChange) => {
    const id = newId('audit')
    return stores.transaction(async collections => {
      const { recorded, changes } = recordChanges(collections)
      const done = await collections.audit.find({ _id: id })
      const written = await write(recorded, done?.at)
      for (const [index, described] of [describeChange(written, changes) ?? []].flat().entries()) {
        const rowId = index === 0 ? id : deterministicId('audit', id, String(index))
        // A lookup comes before the insert, because a duplicate id would abort the transaction.
        if ((await collections.audit.find({ _id: rowId })) !== undefined) continue
        await writeAuditRow(collections, rowId, requester, { changes, ...described })
      }
      return written
    })
  }
}

/**
 * Writes one audit row per change, unless it is stored, before the answer is sent and stored. A repeat under the same Idempotency-Key writes the row that a
 * crash prevented, under the same id.
 * Known gap: a change that is reported as `RouteAnswer.changed` happens before its row is written. If the process dies in between,
 * and no repeat under the same key follows or the repeat finds nothing to change, the change has no row. None of these changes shows a
 * secret.
 */
export async function writeAuditRow(
  { audit }: Pick<AdminCollections, 'audit'>,
  ...row: Parameters<typeof toAuditRow>
): Promise<void> {
  await audit.insert(toAuditRow(...row))
}

/** The audit row of a change, not signed yet. */
export function toAuditRow(
  id: string,
  requester: AuditedRequester,
  { action, target, projectId, actor = requester.identity, changes = [] }: AuditedChange,
): AuditDocument {
  return {
    _id: id,
    at: requester.now,
    key_id: actor.kind === 'key' ? actor.id : null,
    actor: { kind: actor.kind, id: actor.id, name: actor.name },
    session_id: actor.sessionId,
    action,
    target,
    project_id: projectId,
    changes: [...changes],
    unchained: true,
    request_id: requester.requestId,
    address: requester.address ?? null,
  }
}

/** The collections whose changes the audit shows field by field. */
const RECORDED = [
  'projects',
  'connections',
  'channels',
  'apiKeys',
  'actors',
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
