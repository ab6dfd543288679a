import { ERROR_CODES, type ErrorCode, type Problem } from '@backstop/contracts'
import { AppError } from '../errors.ts'

export const PROBLEM_TYPE = 'application/problem+json'

/** A name rather than a place: every installation has its own address. docs/errors.md describes each code. */
const CODE_URN = 'urn:backstop:error:'

/** The problem document of a code (RFC 9457). `detail` is for the caller: never an internal cause, never a secret. */
export function problem(
  code: ErrorCode,
  detail: string,
  extra: Partial<Pick<Problem, 'status' | 'request_id' | 'errors' | 'budget'>> = {},
): Problem {
  const { status, title } = ERROR_CODES[code]
  return { type: `${CODE_URN}${code}`, title, status, code, detail, ...extra }
}

/** Any thrown value as an answer. What is not an AppError is a fault of ours and says nothing about itself. */
export function toProblem(error: unknown, requestId?: string): { status: number; body: Problem } {
  const extra = requestId === undefined ? {} : { request_id: requestId }
  if (!(error instanceof AppError)) {
    const body = problem(
      'internal',
      'The error is logged with this request_id; retry, and report it if it happens again',
      extra,
    )
    return { status: body.status, body }
  }
  const { errors, budget } = error.details as Pick<Problem, 'errors' | 'budget'>
  const told = { ...(errors === undefined ? {} : { errors }), ...(budget === undefined ? {} : { budget }) }
  const body = problem(error.code, cut(error.message), { ...extra, ...told })
  return { status: body.status, body }
}

/** A message may name what was asked for, which may be of any length. */
const MAX_DETAIL_LENGTH = 1_000

function cut(detail: string): string {
  return detail.length <= MAX_DETAIL_LENGTH ? detail : `${detail.slice(0, MAX_DETAIL_LENGTH)}…`
}
