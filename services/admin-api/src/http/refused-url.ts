import { type EgressReason, egressReason } from '@backstop/kit/egress'
import { AppError } from '@backstop/kit/errors'
import { refusedField } from './refused-field.ts'

/** Texts with these faults are no URLs. All other faults are URLs that the network policy forbids. */
const NO_URL: ReadonlySet<EgressReason | undefined> = new Set(['malformed', 'too_long'])

/**
 * The refusal of a field with a URL.
 * @param path as in `errors` of the problem document: body.config.url
 * @param blocked the error of the network-policy check
 */
export function refusedUrl(path: string, blocked: AppError): AppError {
  const { message } = blocked
  if (NO_URL.has(egressReason(blocked))) return refusedField(path, message)
  return new AppError('egress_blocked', `${path}: ${message}`, {
    details: { ...blocked.details, errors: [{ path, message }] },
  })
}
