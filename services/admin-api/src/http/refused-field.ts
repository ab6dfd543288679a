import { AppError } from '@backstop/kit'

/**
 * The refusal of one field for what a schema alone cannot tell.
 * @param path as in the problem's `errors`: body.config.headers
 */
export function refusedField(path: string, message: string): AppError {
  return new AppError('invalid_request', `${path}: ${message}`, { details: { errors: [{ path, message }] } })
}
