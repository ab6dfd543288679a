import {
  type Alert,
  deterministicId,
  type FailedRun,
  isoTime,
  type Operation,
  type OutboxEntry,
  partitionKey,
  showOperation,
} from '@backstop/contracts'
import { type ReachedCap, usageOf } from './budget.ts'

type ApprovalEvent = Extract<Alert['event'], `approval.${string}`>

/**
 * The message with this version of the operation. Its id depends on the operation and the version only, so a repeat has
 * the same id.
 */
export function operationEntry(operation: Operation): OutboxEntry {
  return {
    id: `${operation.operation_id}:${operation.version}`,
    topic: 'operations',
    key: partitionKey(operation.project_id, operation.subject),
    message: operation,
  }
}

/**
 * The alert about an event of an operation's approval. It is unique, because an operation has one approval with each
 * event once.
 */
export function approvalEntries(operation: Operation, event: ApprovalEvent, now: number): OutboxEntry[] {
  const { approval, operation_id, project_id } = operation
  if (approval == null) return []
  const about = { alert_id: deterministicId('alert', operation_id, event), project_id, created_at: isoTime(now) }
  return [alertEntry({ ...about, event, data: { operation: showOperation(operation), approval } })]
}

/** The alert that a budget reached a share of its cap. Each share alerts once per period. */
export function capAlertEntry(
  { budget, account, percent }: ReachedCap,
  operation: Operation,
  now: number,
): OutboxEntry {
  return alertEntry({
    alert_id: deterministicId('alert', account.id, 'cap.threshold', String(percent)),
    project_id: budget.project_id,
    created_at: isoTime(now),
    event: 'cap.threshold',
    data: { budget, current: usageOf(budget, account, account), percent, operation: showOperation(operation) },
  })
}

/** The alert that a run failed. @param operations the newest ones of the run */
export function runAlertEntry(
  runDocumentId: string,
  run: FailedRun,
  operations: readonly Operation[],
  operationsTotal: number,
): OutboxEntry {
  return alertEntry({
    alert_id: deterministicId('alert', runDocumentId, 'run.failed'),
    project_id: run.project_id,
    created_at: run.reported_at,
    event: 'run.failed',
    data: { run, operations: operations.map(showOperation), operations_total: operationsTotal },
  })
}

function alertEntry(alert: Alert): OutboxEntry {
  return { id: alert.alert_id, topic: 'alerts', key: alert.project_id, message: alert }
}
