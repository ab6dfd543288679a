import type { NewOperation } from '../generated/api.ts'

/** The body of a report. Its idempotency key identifies the operation, so a report that is sent twice is recorded once. */
export type ReportBody = NewOperation & { idempotency_key: string; state: NonNullable<NewOperation['state']> }

/** What the software did, as POST /v1/operations takes it. */
export interface Report {
  /** Identifies the operation among all reports. A later report of an operation replaces an unsent earlier one. */
  readonly id: string
  readonly body: ReportBody
  /** Milliseconds since the epoch before which the report is not sent; absent if it may be sent at once. */
  readonly notBeforeMs?: number
}

export function createReport(body: ReportBody, notBeforeMs?: number): Report {
  const id = `${body.connection_id} ${body.idempotency_key}`
  return notBeforeMs === undefined ? { id, body } : { id, body, notBeforeMs }
}

/**
 * The report to keep of two reports of one operation. Each report is complete, so one is enough. A repeated call with the same
 * idempotency key begins again only after a failure that may have been temporary; otherwise the provider repeats its first answer.
 * A failure of the repeated call does not undo what the provider answered before.
 */
export function mergeReports(queued: Report, next: Report): Report {
  const hasEnded = queued.body.state !== 'executing' && queued.notBeforeMs === undefined
  if (next.body.state === 'executing' && hasEnded) return queued
  if (next.body.state === 'failed' && hasEnded && queued.body.state !== 'failed') return queued
  const { executing_at = next.body.executing_at } = queued.body
  return { ...next, body: { ...next.body, ...(executing_at === undefined ? {} : { executing_at }) } }
}

/** False if the call of the report was still in progress. */
export function hasEnd({ body }: Report): boolean {
  return body.state !== 'executing'
}

/** How long a temporary failure waits before it is reported, in milliseconds, because software often repeats such a call. */
export const REPEAT_WITHIN_MS = 60_000

/**
 * The end of a call whose process ended during the call. The call may have been executed, which `failed` does not deny. It is not sent at
 * once, because the software may repeat the call.
 * @param nowMs milliseconds since the epoch, when the next process found the report
 */
export function endAfterCrash({ id, body }: Report, nowMs: number): Report {
  const reason = 'The program ended before the answer of the provider was reported'
  const ended_at = new Date(nowMs).toISOString()
  return { id, body: { ...body, state: 'failed', reason, ended_at }, notBeforeMs: nowMs + REPEAT_WITHIN_MS }
}

/** The report without times, for a repeated call with the same idempotency key, whose first call had other times. */
export function withoutTimes({ executing_at: _began, ended_at: _ended, ...body }: ReportBody): ReportBody {
  return body
}
