import type { Problem } from '@backstop/contracts'
import { AppError } from '@backstop/kit/errors'
import { describeInputFault } from '@backstop/kit/input-fault'
import type { z } from 'zod'

type RequestPart = 'path' | 'query' | 'body'

/** The answer to an invalid request lists at most this many errors, so it stays small for any body. */
const MAX_LISTED_ERRORS = 50
const MAX_PATH_LENGTH = 200

/**
 * Checks one part of a request with its schema.
 * @throws AppError `invalid_request` that lists every refused field, but no values, because a value may be a secret
 */
export function checkInput<S extends z.ZodType>(where: RequestPart, schema: S, given: unknown): z.output<S> {
  const parsed = parseInput(where, schema, given)
  if (parsed.success) return parsed.data
  const errors: RefusedField[] = []
  let count = 0
  for (const issue of withoutLooserBounds(parsed.error.issues)) {
    for (const error of describeIssue(issue, where)) {
      count++
      if (errors.length < MAX_LISTED_ERRORS) errors.push(error)
    }
  }
  const [first] = errors
  throw new AppError('invalid_request', `${first?.path}: ${first?.message}${describeMoreErrors(count)}`, {
    details: { errors },
  })
}

/** zod compares the `length` of any value with the bounds of a text or list, and throws for an object whose `length` has no text. */
function parseInput<S extends z.ZodType>(where: RequestPart, schema: S, given: unknown) {
  try {
    return schema.safeParse(given, { error: describeInputFault })
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause
    const message = 'An object has a field length that is not a number; remove the object'
    const details = { errors: [{ path: where, message }] }
    throw new AppError('invalid_request', `${where}: ${message}`, { cause, details })
  }
}

/**
 * Keeps one error for each exceeded bound of a field. A whole number has the bounds of its type and those of its schema, which come later
 * and are tighter.
 */
function withoutLooserBounds(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue[] {
  const isBound = ({ code }: z.core.$ZodIssue) => code === 'too_big' || code === 'too_small'
  const keyOf = ({ code, path }: z.core.$ZodIssue) => JSON.stringify([code, path])
  const tightest = new Map(issues.filter(isBound).map(issue => [keyOf(issue), issue]))
  return issues.filter(issue => !isBound(issue) || tightest.get(keyOf(issue)) === issue)
}

/**
 * Says how many errors follow the first, and how many of them are not listed. The list is bounded for a caller who sends 50,000 wrong
 * fields.
 */
function describeMoreErrors(count: number): string {
  if (count <= 1) return ''
  const listed = count > MAX_LISTED_ERRORS ? `, of which errors lists ${MAX_LISTED_ERRORS - 1}` : ', see errors'
  return ` (and ${count - 1} more${listed})`
}

const UNKNOWN_FIELD_MESSAGES: Readonly<Record<RequestPart, string>> = {
  path: 'Unknown path parameter; remove it',
  query: 'Unknown query parameter; remove it',
  body: 'Unknown field; remove it',
}

type RefusedField = NonNullable<Problem['errors']>[number]

function* describeIssue(issue: z.core.$ZodIssue, where: RequestPart): Generator<RefusedField> {
  const path = truncatePath([where, ...issue.path.map(String)].join('.'))
  if (issue.code !== 'unrecognized_keys') yield { path, message: issue.message }
  else
    for (const key of issue.keys) yield { path: truncatePath(`${path}.${key}`), message: UNKNOWN_FIELD_MESSAGES[where] }
}

/** Truncates a path: the caller chooses the field names, which may have any length. */
function truncatePath(path: string): string {
  return path.length <= MAX_PATH_LENGTH ? path : `${path.slice(0, MAX_PATH_LENGTH)}…`
}
