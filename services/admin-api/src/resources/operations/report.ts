import {
  type NewOperation,
  type NewTransition,
  type Operation,
  type ShownOperation,
  showOperation,
} from '@backstop/contracts'
import type { Principal } from '../../access/rules/access.ts'
import { listChangedFields } from '../../http/changed-fields.ts'
import { findInProject, notFound, refuseHeartbeat, requireInProject } from '../../http/find-resource.ts'
import type { AuditedChange, RouteAnswer } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'

const AUDIT_ACTIONS = { created: 'operation.create', moved: 'operation.transition' } as const

/** Who reports, and when. */
export interface Reporting {
  readonly principal: Principal
  readonly now: Date
}

/** An operation after a report. `changed` is undefined if the report changed nothing. */
export interface ReportAnswer extends RouteAnswer {
  readonly body: ShownOperation
  readonly changed?: AuditedChange
}

/** @param id the id of a new operation @throws AppError, LedgerRefusal */
export async function recordReport(
  { stores, ledger }: AdminParts,
  reported: NewOperation,
  { id, principal, now }: Reporting & { readonly id: string },
): Promise<ReportAnswer> {
  const connection = await findInProject(stores.connections, principal, 'connection', reported.connection_id)
  refuseHeartbeat(connection.project_id)
  // The report may repeat one that was stored before somebody deleted the connection.
  const isRefused = connection.deleted_at !== null && (await ledger.get(id)) === undefined
  if (isRefused) throw notFound('connection', connection._id)
  const { operation, outcome } = await ledger.record(reported, connection, now.getTime(), id, principal.id)
  const answer = { status: outcome === 'created' ? 201 : 200, body: showOperation(operation) }
  return outcome === 'unchanged'
    ? answer
    : { ...answer, changed: auditedOperationChange(operation, AUDIT_ACTIONS[outcome]) }
}

/** @throws AppError, LedgerRefusal */
export async function moveOperation(
  { ledger }: AdminParts,
  id: string,
  transition: NewTransition,
  { principal, now }: Reporting,
): Promise<ReportAnswer> {
  requireInProject(await ledger.projectOf(id), principal, 'operation', id)
  const { operation, before } = await ledger.transition(id, transition, now.getTime())
  const answer = { status: 200, body: showOperation(operation) }
  if (operation === before) return answer
  return { ...answer, changed: auditedOperationChange(operation, AUDIT_ACTIONS.moved, before) }
}

/** @throws AppError `not_found` */
export async function findOperation(
  ledger: AdminParts['ledger'],
  principal: Principal,
  id: string,
): Promise<Operation> {
  return requireInProject(await ledger.get(id), principal, 'operation', id)
}

/** The change to an operation, for the audit row. @param before undefined if the operation is new */
export function auditedOperationChange(operation: Operation, action: string, before?: Operation): AuditedChange {
  const { operation_id: target, project_id: projectId } = operation
  return { action, target, projectId, changes: listChangedFields(target, before, operation) }
}
