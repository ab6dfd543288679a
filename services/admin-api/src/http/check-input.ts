import type { Problem } from '@backstop/contracts'
import { AppError, describeInputFault } from '@backstop/kit'
import type { z } from 'zod'

type Where = 'path' | 'query' | 'body'

/**
 * Checks a part of a request by its schema.
 * @throws AppError `invalid_request` that lists every field that was refused; never a value, which may be a secret
 */
export function checkInput<S extends z.ZodType>(where: Where, schema: S, given: unknown): z.output<S> {
  const parsed = schema.safeParse(given, { error: describeInputFault })
  if (parsed.success) return parsed.data
  const errors = parsed.error.issues.flatMap(issue => describeIssue(issue, where))
  const [first] = errors
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more, see errors)` : ''
  throw new AppError('invalid_request', `${first?.path}: ${first?.message}${more}`, { details: { errors } })
}

function describeIssue(issue: z.core.$ZodIssue, where: Where): NonNullable<Problem['errors']> {
  const path = [where, ...issue.path.map(String)].join('.')
  if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message }]
  return issue.keys.map(key => ({ path: `${path}.${key}`, message: 'There is no such field' }))
}
