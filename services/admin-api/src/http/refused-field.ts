import { AppError } from '@backstop/kit/errors'

/**
 * The refusal of one field for a reason that its schema cannot express.
 * @param path as in `errors` of the problem document: body.config.headers
 */
export function refusedField(path: string, message: string): AppError {
  return new AppError('invalid_request', `${path}: ${message}`, { details: { errors: [{ path, message }] } })
}
