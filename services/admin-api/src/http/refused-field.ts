import { type EgressReason, egressReason, type HostList } from '@backstop/kit/egress'
import { AppError } from '@backstop/kit/errors'

/**
 * The refusal of one field for a reason that its schema cannot express.
 * @param path as in `errors` of the problem document: body.config.headers
 */
export function refusedField(path: string, message: string): AppError {
  return new AppError('invalid_request', `${path}: ${message}`, { details: { errors: [{ path, message }] } })
}

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

/** True if the URL uses https on the default port and its host is in the list. Another port may belong to another program. */
export function hasAllowedHost(hosts: HostList, url: string): boolean {
  const { protocol, port } = URL.parse(url) ?? {}
  return protocol === 'https:' && port === '' && hosts.includesHostOf(url)
}
