import { deterministicId } from '@backstop/contracts'
import type { Identity } from '../access/rules/access.ts'
import type { AdminCollections, AdminStores } from '../store/stores.ts'
import { recordChanges } from './record-changes.ts'
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
      const written = await write(recorded)
      for (const [index, described] of [describeChange(written, changes) ?? []].flat().entries()) {
        const rowId = index === 0 ? id : deterministicId('audit', id, String(index))
        await writeAuditRow(collections, rowId, requester, { changes, ...described })
      }
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
  { action, target, projectId, actor = requester.identity, changes = [] }: AuditedChange,
): Promise<void> {
  // A lookup comes before the insert, because a duplicate id would abort a whole transaction.
  if ((await audit.find({ _id: id })) !== undefined) return
  await audit.insert({
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
  })
}
