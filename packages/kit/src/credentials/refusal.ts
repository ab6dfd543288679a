/**
 * Tells errors of credentials, which a retry does not fix, from errors of the network. One function for Kafka, MongoDB and the
 * schema registry, because all three report TLS errors by the codes of Node.
 */

/** Why a dependency and this process do not accept each other. */
export type CredentialRefusal =
  /** Its certificate is not signed by a known authority. */
  | 'server_not_trusted'
  | 'server_certificate_expired'
  /** Its certificate is for other host names. */
  | 'server_name_differs'
  /** It wants a client certificate, or another one. */
  | 'client_certificate_refused'
  /** It answers without TLS. */
  | 'server_without_tls'
  | 'tls_versions_differ'
  /** It ended the handshake without a reason. */
  | 'handshake_failed'
  /** It closes connections after the handshake, as mongod does if it refuses the client certificate. Never certain. */
  | 'connection_closed'
  /** User or password is wrong. */
  | 'login_refused'
  /** It does not offer this SASL mechanism. */
  | 'mechanism_refused'

interface ErrorFields extends Error {
  readonly code?: unknown
  readonly type?: unknown
}

/** A refusal that no error of a client library reports. */
export class RefusedError extends Error {
  readonly refusal: CredentialRefusal

  constructor(refusal: CredentialRefusal, message: string) {
    super(message)
    this.refusal = refusal
  }
}

const TLS_CODES: Readonly<Record<string, CredentialRefusal>> = {
  SELF_SIGNED_CERT_IN_CHAIN: 'server_not_trusted',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'server_not_trusted',
  UNABLE_TO_GET_ISSUER_CERT: 'server_not_trusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'server_not_trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'server_not_trusted',
  CERT_SIGNATURE_FAILURE: 'server_not_trusted',
  CERT_UNTRUSTED: 'server_not_trusted',
  INVALID_CA: 'server_not_trusted',
  CERT_HAS_EXPIRED: 'server_certificate_expired',
  CERT_NOT_YET_VALID: 'server_certificate_expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'server_name_differs',
  ERR_SSL_WRONG_VERSION_NUMBER: 'server_without_tls',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'server_without_tls',
  ERR_SSL_UNSUPPORTED_PROTOCOL: 'tls_versions_differ',
}
/** The alerts by which a server refuses a client certificate (RFC 8446 §6.2), as the end of Node's codes. */
const CERTIFICATE_ALERT =
  /ALERT_(?:BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|CERTIFICATE_(?:REVOKED|EXPIRED|UNKNOWN|REQUIRED)|UNKNOWN_CA|ACCESS_DENIED|DECRYPT_ERROR)$/
const VERSION_ALERT = /ALERT_PROTOCOL_VERSION$/
/** A missing client certificate, or no common cipher or curve: the alert does not say which. */
const HANDSHAKE_ALERT = /ALERT_HANDSHAKE_FAILURE$/

/** MongoDB: AuthenticationFailed and UserNotFound. */
const MONGO_CODES = new Set<unknown>([18, 11])
/** Atlas's code for refusals of its proxies, among them logins (`bad auth : authentication failed`). */
const ATLAS_CODE = 8_000
const SASL_TYPES: Readonly<Record<string, CredentialRefusal>> = {
  SASL_AUTHENTICATION_FAILED: 'login_refused',
  UNSUPPORTED_SASL_MECHANISM: 'mechanism_refused',
}

/** The refusal that an error or one of its causes reports; undefined for every other error. */
export function findRefusal(error: unknown): CredentialRefusal | undefined {
  let next = error
  for (let depth = 0; next instanceof Error && depth < 8; depth++) {
    const refusal = refusalOf(next as ErrorFields)
    if (refusal !== undefined) return refusal
    next = next.cause
  }
  return undefined
}

function refusalOf(error: ErrorFields): CredentialRefusal | undefined {
  const { code, type, name } = error
  if (error instanceof RefusedError) return error.refusal
  if (typeof type === 'string' && Object.hasOwn(SASL_TYPES, type)) return SASL_TYPES[type]
  if (typeof code === 'string') {
    if (Object.hasOwn(TLS_CODES, code)) return TLS_CODES[code]
    if (CERTIFICATE_ALERT.test(code)) return 'client_certificate_refused'
    if (VERSION_ALERT.test(code)) return 'tls_versions_differ'
    if (HANDSHAKE_ALERT.test(code)) return 'handshake_failed'
  }
  if (name === 'MongoServerError') {
    if (MONGO_CODES.has(code) || (code === ATLAS_CODE && /\bauth/i.test(error.message))) return 'login_refused'
  }
  if (name === 'KafkaJSSASLAuthenticationError') {
    return / mechanism is not supported /.test(error.message) ? 'mechanism_refused' : 'login_refused'
  }
  return undefined
}

/** A dependency, and the names of the settings that a message about it needs. */
export interface RefusalContext {
  /** Such as `Kafka`. */
  readonly dependency: string
  /** Such as `KAFKA_BROKERS`. */
  readonly addressSetting: string
  readonly caSetting: string
  readonly certSetting: string
  /** Where user and password are set. */
  readonly loginSettings: string
  /** The SASL mechanism, if one is set. */
  readonly mechanism?: string | undefined
  /** The client certificate in words; undefined if none is set. */
  readonly certificate: string | undefined
}

/** One sentence for an operator, with the setting to correct and without a secret. */
export function describeRefusal(refusal: CredentialRefusal, context: RefusalContext): string {
  const { dependency, addressSetting, caSetting, certSetting, loginSettings, mechanism, certificate } = context
  switch (refusal) {
    case 'server_not_trusted':
      return `The certificate of ${dependency} is not signed by an authority in ${caSetting}`
    case 'server_certificate_expired':
      return `The certificate of ${dependency} is expired, or not valid yet`
    case 'server_name_differs':
      return `The certificate of ${dependency} is not for the host in ${addressSetting}`
    case 'client_certificate_refused':
      return certificate === undefined
        ? `${dependency} requires a client certificate: set ${certSetting}`
        : `${dependency} refused the client certificate in ${certSetting} (${certificate})`
    case 'server_without_tls':
      return `${dependency} answered without TLS: check the port in ${addressSetting}`
    case 'tls_versions_differ':
      return `${dependency} does not offer TLS 1.2 or newer`
    case 'handshake_failed':
      return `${dependency} ended the TLS handshake without a reason: it may require ${anotherCertificate(context)}, or offer no common cipher or curve`
    case 'connection_closed':
      return `${dependency} closes every connection after the TLS handshake: it may require ${anotherCertificate(context)}, or a proxy has no server to connect to`
    case 'login_refused':
      return `${dependency} refused the login with ${loginSettings}`
    case 'mechanism_refused':
      return `${dependency} does not offer the SASL mechanism ${mechanism ?? ''} at this port: check KAFKA_SASL_MECHANISM`
    default:
      return refusal satisfies never
  }
}

function anotherCertificate({ certificate, certSetting }: RefusalContext): string {
  return certificate === undefined
    ? `a client certificate (${certSetting})`
    : `another client certificate than the one in ${certSetting} (${certificate})`
}
