import { OperationBatch, OperationBatchResults } from '@backstop/contracts'
import { AppError } from '@backstop/kit/errors'
import { toProblem } from '@backstop/kit/http'
import { createOneAtATime } from '@backstop/kit/one-at-a-time'
import { LedgerRefusal } from '@backstop/ledger'
import { explainRefusal } from '../../http/explain-refusal.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import { moveOperation, type ReportAnswer, type Reporting, recordReport } from './report.ts'

type Item = OperationBatch['items'][number]

/** The result of an item: the answer, or the error that refused it. */
type Result = ReportAnswer | { readonly error: unknown }

/** About 2 KB for each of a thousand items. */
const MAX_BODY_BYTES = 2 * 1_048_576

/** /v1/operations/batch */
export function batchRoute(parts: AdminParts): Route {
  return defineRoute({
    method: 'post',
    path: '/v1/operations/batch',
    operationId: 'batchOperations',
    tag: 'Operations',
    summary: 'Report up to 1,000 operations and transitions at once',
    description:
      'Each item has its own result: a refused item refuses no other. A body with an invalid item is refused as a whole, and stores nothing. Send the batch again if no answer came: a report is recognised by its idempotency_key, and a state that was reported before changes nothing.',
    scope: 'operations:write',
    body: OperationBatch,
    maxBodyBytes: MAX_BODY_BYTES,
    answers: { 200: { description: 'The result of each item, in their order', schema: OperationBatchResults } },
    refusals: [],
    async handle({ body: { items }, principal, newId, now, auditRow, requestId, logger }) {
      // All ids are made first, so that a repeat with the same Idempotency-Key has the same ids, whatever it still has to do.
      const entries = items.map(item => ({ item, id: newId('operation') }))
      const oneAtATime = createOneAtATime()
      const results = await Promise.all(
        entries.map(({ item, id }) =>
          oneAtATime(nameOf(item), async (): Promise<Result> => {
            try {
              return await carryOut(parts, item, { id, principal, now, auditRow })
            } catch (error) {
              return { error: error instanceof LedgerRefusal ? explainRefusal(error) : error }
            }
          }),
        ),
      )
      throwOutage(results)
      for (const result of results) {
        if ('error' in result && !(result.error instanceof AppError))
          logger.error({ error: result.error, request_id: requestId }, 'http.fault')
      }
      return { status: 200, body: { results: results.map(result => showResult(result, requestId)) } }
    },
  })
}

function carryOut(parts: AdminParts, item: Item, reporting: Reporting & { readonly id: string }) {
  if (item.type === 'report') {
    const { type: _, ...report } = item
    return recordReport(parts, report, reporting)
  }
  const { type: _, operation_id, ...transition } = item
  return moveOperation(parts, operation_id, transition, reporting)
}

/** The operation of an item as the item names it. Items with the same name are carried out in their order. */
function nameOf(item: Item): string {
  return item.type === 'report' ? `key ${item.connection_id} ${item.idempotency_key}` : `id ${item.operation_id}`
}

/** Refuses the batch as a whole if nothing of it could be stored. */
function throwOutage(results: readonly Result[]): void {
  const outages = results.filter(result => 'error' in result && isUnavailable(result.error))
  const [first] = outages
  if (first !== undefined && outages.length === results.length && 'error' in first) throw first.error
}

function isUnavailable(error: unknown): boolean {
  return error instanceof AppError && error.code === 'unavailable'
}

function showResult(result: Result, requestId: string) {
  if (!('error' in result)) return { status: result.status, operation: result.body, problem: null }
  const { status, body } = toProblem(result.error, requestId)
  return { status, operation: null, problem: body }
}
