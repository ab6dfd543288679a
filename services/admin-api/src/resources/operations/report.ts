import {
  type NewOperation,
  type NewTransition,
  type Operation,
  type ShownOperation,
  showOperation,
} from '@backstop/contracts'
import type { MakeAuditRow } from '@backstop/ledger'
import type { Principal } from '../../access/rules/access.ts'
import { listChangedFields } from '../../http/changed-fields.ts'
import { findInProject, notFound, refuseHeartbeat, requireInProject } from '../../http/find-resource.ts'
import type { RouteAnswer, RouteRequest } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'

/** Who reports, and when. */
export type Reporting = Pick<RouteRequest<never, never, never>, 'principal' | 'now' | 'auditRow'>

/** An operation after a report. */
export interface ReportAnswer extends RouteAnswer {
  readonly body: ShownOperation
}

/** @param id the id of a new operation @throws AppError, LedgerRefusal */
export async function recordReport(
  { stores, ledger }: AdminParts,
  reported: NewOperation,
  { id, principal, now, auditRow }: Reporting & { readonly id: string },
): Promise<ReportAnswer> {
  const connection = await findInProject(stores.connections, principal, 'connection', reported.connection_id)
  refuseHeartbeat(connection.project_id)
  // The report may repeat one that was stored before somebody deleted the connection.
  const isRefused = connection.deleted_at !== null && (await ledger.get(id)) === undefined
  if (isRefused) throw notFound('connection', connection._id)
  const { operation, outcome } = await ledger.record(reported, connection, now.getTime(), {
    operationId: id,
    reportedBy: principal.id,
    makeAuditRow: operationAuditRow(auditRow),
  })
  return { status: outcome === 'created' ? 201 : 200, body: showOperation(operation) }
}

/** @throws AppError, LedgerRefusal */
export async function moveOperation(
  { ledger }: AdminParts,
  id: string,
  transition: NewTransition,
  { principal, now, auditRow }: Reporting,
): Promise<ReportAnswer> {
  requireInProject(await ledger.projectOf(id), principal, 'operation', id)
  const { operation } = await ledger.transition(id, transition, now.getTime(), operationAuditRow(auditRow))
  return { status: 200, body: showOperation(operation) }
}

/** @throws AppError `not_found` */
export async function findOperation(
  ledger: AdminParts['ledger'],
  principal: Principal,
  id: string,
): Promise<Operation> {
  return requireInProject(await ledger.get(id), principal, 'operation', id)
}

/** Makes the audit row of a change to an operation. @param action default: a report or a transition */
export function operationAuditRow(auditRow: Reporting['auditRow'], action?: string): MakeAuditRow {
  return (operation, before) => {
    const { operation_id: target, project_id: projectId } = operation
    const reported = before === undefined ? 'operation.create' : 'operation.transition'
    const changes = listChangedFields(target, before && fieldsToShow(before), fieldsToShow(operation))
    return auditRow({ action: action ?? reported, target, projectId, changes })
  }
}

/** The fields of an operation that its row does not show otherwise, and that callers of the API see. */
function fieldsToShow({ operation_id, project_id, refs, ...fields }: Operation): object {
  return fields
}
