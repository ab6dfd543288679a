import { errors } from 'undici'
import { AppError } from '../errors.ts'
import type { UrlRefusal } from './url-policy.ts'

/** The reason why a request was not sent (`egress_blocked`), from a closed list: each word is a metric label. */
export type EgressBlock = UrlRefusal | 'resolved_address' | 'socket_address'

/** The reason why a request got no usable answer (`unavailable`), from a closed list: each word is a metric label. */
export type EgressFailure =
  | 'dns_failed'
  | 'connect_refused'
  | 'connect_timeout'
  | 'connect_failed'
  | 'connection_lost'
  | 'tls_failed'
  | 'headers_timeout'
  | 'deadline'
  | 'response_too_large'
  | 'raw_response_too_large'
  | 'response_headers_too_large'
  | 'too_many_interim_responses'
  | 'response_invalid'
  | 'proxy_failed'
  | 'too_many_connections'
  | 'stopped'
  | 'unknown'

export type EgressReason = EgressBlock | EgressFailure

/**
 * Texts for a channel's owner. They contain no address and no URL, because they must not reveal the addresses of a
 * name.
 */
const FAILURE_MESSAGES: Readonly<Record<EgressFailure, string>> = {
  dns_failed: 'The host name of the URL cannot be resolved; check it for a typing error',
  connect_refused: 'The receiver refused the connection; check that it is running and reachable from the internet',
  connect_timeout: 'The receiver did not accept a connection in time; check its firewall',
  connect_failed: 'The receiver cannot be reached; check that it is reachable from the internet',
  connection_lost: 'The receiver closed the connection before it answered',
  tls_failed: "The receiver's TLS certificate is not valid for this URL, has expired or is not trusted",
  headers_timeout: 'The receiver accepted the request but did not answer in time',
  deadline: 'The receiver did not answer in time',
  response_too_large: 'The answer is larger than its limit',
  raw_response_too_large:
    'The receiver sent far more bytes than its answer holds: chunk extensions, interim responses or TLS records',
  response_headers_too_large: 'The headers or trailers of the answer are larger than 16 KiB',
  too_many_interim_responses: 'The receiver sent more than 10 interim responses (1xx) before its answer',
  response_invalid: 'The receiver answered with something that is not HTTP',
  proxy_failed: 'The egress proxy could not connect; this is on our side',
  too_many_connections: 'Too many connections are open; this is on our side',
  stopped: 'This process is stopping',
  unknown: 'The request failed for an unknown reason',
}

/** The error for a URL or an address that may not be reached. `details.reason` is the metric label. */
export function egressBlocked(reason: EgressBlock, message?: string): AppError {
  const text = message ?? 'The URL points to an address that may not be reached from here; use a public one'
  return new AppError('egress_blocked', text, { details: { reason } })
}

/** The error for a request without a usable answer. Retryable, because the receiver may be available later. */
export function egressFailed(reason: EgressFailure, cause?: unknown): AppError {
  return new AppError('unavailable', FAILURE_MESSAGES[reason], { cause, retryable: true, details: { reason } })
}

/** The reason of an error from this folder; undefined for any other error. */
export function egressReason(error: unknown): EgressReason | undefined {
  if (!(error instanceof AppError) || (error.code !== 'egress_blocked' && error.code !== 'unavailable'))
    return undefined
  return error.details.reason as EgressReason | undefined
}

const BY_CODE: Readonly<Record<string, EgressFailure>> = {
  ENOTFOUND: 'dns_failed',
  ENODATA: 'dns_failed',
  EAI_AGAIN: 'dns_failed',
  ESERVFAIL: 'dns_failed',
  EREFUSED: 'dns_failed',
  ETIMEOUT: 'dns_failed',
  ECONNREFUSED: 'connect_refused',
  ETIMEDOUT: 'connect_timeout',
  UND_ERR_CONNECT_TIMEOUT: 'connect_timeout',
  EHOSTUNREACH: 'connect_failed',
  ENETUNREACH: 'connect_failed',
  EADDRNOTAVAIL: 'connect_failed',
  ECONNRESET: 'connection_lost',
  EPIPE: 'connection_lost',
  UND_ERR_SOCKET: 'connection_lost',
  UND_ERR_HEADERS_TIMEOUT: 'headers_timeout',
  UND_ERR_BODY_TIMEOUT: 'deadline',
  UND_ERR_HEADERS_OVERFLOW: 'response_headers_too_large',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'response_invalid',
  UND_ERR_PRX_TLS: 'proxy_failed',
  UND_ERR_PRX_CONN: 'proxy_failed',
}

/** Converts any error of undici, Node.js sockets or DNS to one of the two errors above. */
export function toEgressError(error: unknown, viaProxy: boolean): AppError {
  const known = findAppError(error)
  if (known !== undefined) return known
  const reason = classify(error)
  // Behind a proxy a failed connection may be the proxy's fault, so it is not reported as a failure of the receiver.
  return egressFailed(viaProxy && BEFORE_THE_RECEIVER.has(reason) ? 'proxy_failed' : reason, error)
}

const BEFORE_THE_RECEIVER: ReadonlySet<EgressFailure> = new Set([
  'connect_refused',
  'connect_timeout',
  'connect_failed',
  'dns_failed',
  'unknown',
])

/** Finds an AppError of the connector, which may be wrapped in an AggregateError if several addresses were tried. */
function findAppError(error: unknown): AppError | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    if (at instanceof AppError) return at
    if (at instanceof AggregateError) {
      const inner = at.errors.find(one => one instanceof AppError)
      if (inner !== undefined) return inner as AppError
    }
  }
  return undefined
}

function classify(error: unknown): EgressFailure {
  if (error instanceof errors.HTTPParserError) return 'response_invalid'
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    const code = (at as NodeJS.ErrnoException).code
    if (code === undefined) continue
    // undici closes the connection on an unrequested "100 Continue" or upgrade.
    if (code === 'UND_ERR_SOCKET' && /^bad (?:response|upgrade)$/.test(at.message)) return 'response_invalid'
    const known = BY_CODE[code]
    if (known !== undefined) return known
    if (isTlsErrorCode(code)) return 'tls_failed'
    if (code.startsWith('HPE_')) return 'response_invalid'
  }
  return 'unknown'
}

/**
 * True if an error's `code` means that the TLS handshake failed. OpenSSL and Node.js have a few dozen codes for
 * certificate errors (node:tls, "X509 certificate error codes").
 */
export function isTlsErrorCode(code: string): boolean {
  return (
    /^(ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED_|CRL_|INVALID_CA|HOSTNAME_MISMATCH)/.test(
      code,
    ) || code === 'EPROTO'
  )
}
