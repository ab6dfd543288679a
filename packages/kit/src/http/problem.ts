import { ERROR_CODES, type ErrorCode, type Problem } from '@backstop/contracts'
import { AppError } from '../errors.ts'

export const PROBLEM_TYPE = 'application/problem+json'

/** A URN instead of a URL, because every installation has its own address. docs/errors.md describes each code. */
const CODE_URN = 'urn:backstop:error:'

/** The problem document of an error code (RFC 9457). `detail` is for the caller: no internal cause, no secret. */
export function problem(
  code: ErrorCode,
  detail: string,
  extra: Partial<Pick<Problem, 'status' | 'request_id' | 'trace_id' | 'errors' | 'budget'>> = {},
): Problem {
  const { status, title } = ERROR_CODES[code]
  return { type: `${CODE_URN}${code}`, title, status, code, detail, ...extra }
}

/** The answer to a thrown value. An error that is not an AppError is a bug; the answer does not describe it. */
export function toProblem(error: unknown, requestId?: string, traceId?: string): { status: number; body: Problem } {
  const extra = {
    ...(requestId === undefined ? {} : { request_id: requestId }),
    ...(traceId === undefined ? {} : { trace_id: traceId }),
  }
  if (!(error instanceof AppError)) {
    const body = problem(
      'internal',
      'The error is logged with this request_id; retry, and report it if it happens again',
      extra,
    )
    return { status: body.status, body }
  }
  const { errors, budget } = error.details as Pick<Problem, 'errors' | 'budget'>
  const extensions = { ...(errors === undefined ? {} : { errors }), ...(budget === undefined ? {} : { budget }) }
  const body = problem(error.code, truncate(error.message), { ...extra, ...extensions })
  return { status: body.status, body }
}

/** Maximum length of `detail` in characters: a message may quote the request, which may have any length. */
const MAX_DETAIL_LENGTH = 1_000

function truncate(detail: string): string {
  return detail.length <= MAX_DETAIL_LENGTH ? detail : `${detail.slice(0, MAX_DETAIL_LENGTH)}…`
}
