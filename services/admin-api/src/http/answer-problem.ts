import type { Clock } from '@backstop/kit/clock'
import { AppError, isRetryable } from '@backstop/kit/errors'
import { announcedLength, discardBody, PROBLEM_TYPE, toProblem } from '@backstop/kit/http'
import type { Logger } from '@backstop/kit/logger'
import { LedgerRefusal } from '@backstop/ledger'
import type { Response } from 'express'
import { explainRefusal } from './explain-refusal.ts'

/** `Retry-After` in seconds while a dependency is unavailable. */
const RETRY_AFTER_S = 5

/** Answers any error as a problem document (RFC 9457). An error that is no AppError is a bug of ours and is logged with its stack. */
export function answerProblem(
  response: Response,
  error: unknown,
  { logger, clock }: { logger: Logger; clock: Clock },
): void {
  const { facts } = response.locals
  const known = toAppError(error)
  const { status, body } = toProblem(known, facts.requestId, facts.traceId)
  facts.code = body.code
  if (!(known instanceof AppError)) logger.error({ error, request_id: facts.requestId }, 'http.fault')
  // A list ends early when its caller disconnects, which is no fault.
  else if (status >= 500)
    logger[response.destroyed ? 'debug' : 'warn']({ error, request_id: facts.requestId }, 'http.unavailable')
  if (response.headersSent) {
    // The headers are already sent, so the connection is closed: the caller must see that the answer is incomplete.
    response.destroy()
    return
  }
  if (status === 401) response.set('www-authenticate', 'Bearer')
  if (status === 503) response.set('retry-after', String(RETRY_AFTER_S))
  else if (isRetryable(known)) response.set('retry-after', String(known.retryAfterS ?? 1))
  endAnswer(response.status(status).type(PROBLEM_TYPE), JSON.stringify(body), clock)
}

/** Converts errors of the ledger and of Express, such as a path with an invalid % escape, to errors of this API. */
function toAppError(error: unknown): unknown {
  if (error instanceof LedgerRefusal) return explainRefusal(error)
  if (error instanceof AppError || typeof error !== 'object' || error === null) return error
  const status = (error as { status?: unknown }).status
  if (typeof status !== 'number' || status < 400 || status > 499) return error
  return new AppError('invalid_request', 'The URL of the request cannot be decoded; correct its percent-encoding', {
    cause: error,
  })
}

/**
 * Ends an answer whose status and headers are set. If the request body has not arrived completely, the answer is sent at once, a limited
 * rest of the body is discarded and the connection is closed, so a client cannot keep it open by sending more.
 */
export function endAnswer(response: Response, body: string | Buffer | undefined, clock: Clock): void {
  const { req: request } = response
  if (request.complete || announcedLength(request) === 0) {
    response.end(body)
    return
  }
  const bytes = Buffer.from(body ?? '')
  response.set({ connection: 'close', 'content-length': String(bytes.length) })
  response.flushHeaders()
  if (bytes.length > 0) response.write(bytes)
  discardBody(request, clock).then(
    () => response.end(),
    () => response.destroy(),
  )
}
