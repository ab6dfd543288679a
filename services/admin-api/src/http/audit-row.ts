import type { AdminCollections, AdminStores } from '../store/stores.ts'
import type { AuditedChange, RouteRequest } from './route.ts'

/** The caller of a change, as stored in the audit row. */
export interface AuditedRequester {
  readonly keyId: string
  readonly requestId: string
  /** Undefined after the connection closed. */
  readonly address: string | undefined
  readonly now: Date
}

/** Creates `RouteRequest.change`, which writes a change and its audit row in one transaction. */
export function changeWithAuditRow(
  stores: Pick<AdminStores, 'transaction'>,
  newId: RouteRequest<never, never, never>['newId'],
  requester: AuditedRequester,
): RouteRequest<never, never, never>['change'] {
  return (write, describeChange) => {
    const id = newId('audit')
    return stores.transaction(async collections => {
      const written = await write(collections)
      await writeAuditRow(collections, id, requester, describeChange(written))
      return written
    })
  }
}

/**
 * Writes one audit row per change, before the answer is sent and stored. A repeat under the same Idempotency-Key writes the row that a
 * crash prevented, under the same id.
 * Known gap: a change outside of this database (`RouteAnswer.changed`) happens before its row is written. If the process dies in between,
 * and no repeat under the same key follows or the repeat finds nothing to change, the change has no row. None of these changes shows a
 * secret.
 */
export async function writeAuditRow(
  { audit }: Pick<AdminCollections, 'audit'>,
  id: string,
  requester: AuditedRequester,
  { action, target, projectId }: AuditedChange,
): Promise<void> {
  // A lookup comes before the insert, because a duplicate id would abort a whole transaction.
  if ((await audit.find({ _id: id })) !== undefined) return
  await audit.insert({
    _id: id,
    at: requester.now,
    key_id: requester.keyId,
    action,
    target,
    project_id: projectId,
    request_id: requester.requestId,
    address: requester.address ?? null,
  })
}
