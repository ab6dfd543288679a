import { createPrivateKey, X509Certificate } from 'node:crypto'
import { createSecureContext, type SecureContext } from 'node:tls'
import type { Secret } from '../config/secret.ts'

/** Certificates and the key of one dependency, in PEM. */
export interface TlsFiles {
  /** The authorities that may sign the server's certificate; those of Node if not set. */
  readonly ca?: Secret | undefined
  /** The client certificate, followed by its intermediate certificates. */
  readonly cert?: Secret | undefined
  readonly key?: Secret | undefined
}

/** TLS towards one dependency. Every new connection uses the files as they are at that time. */
export interface TlsMaterial {
  /** True if connections present a client certificate. */
  readonly hasClientCertificate: boolean
  /**
   * The context for a new connection. While the files do not fit together, for example in the middle of an exchange, it is
   * the last good one.
   */
  context(): SecureContext
  /** A context for clients that accept only one for all their connections. It changes with the files. */
  readonly liveContext: SecureContext
  /** The client certificate in words, for error messages; undefined without one. */
  describeCertificate(): string | undefined
}

/** @throws Error if the files do not fit together */
export function createTlsMaterial({ ca, cert, key }: TlsFiles = {}): TlsMaterial {
  let used = { ca: ca?.reveal(), cert: cert?.reveal(), key: key?.reveal() }
  let context = createContext(used)
  const current = (): SecureContext => {
    const latest = { ca: ca?.revealLatest(), cert: cert?.revealLatest(), key: key?.revealLatest() }
    if (latest.ca === used.ca && latest.cert === used.cert && latest.key === used.key) return context
    try {
      context = createContext(latest)
      used = latest
    } catch {
      // The files are being exchanged: the next connection reads them again.
    }
    return context
  }
  return {
    hasClientCertificate: cert !== undefined,
    context: current,
    // Node reads only this field of a context, for each connection.
    liveContext: Object.defineProperty({}, 'context', { get: () => current().context }) as SecureContext,
    describeCertificate: () => (cert === undefined ? undefined : describe(cert.revealLatest())),
  }
}

interface TlsTexts {
  readonly ca: string | undefined
  readonly cert: string | undefined
  readonly key: string | undefined
}

function createContext({ ca, cert, key }: TlsTexts): SecureContext {
  return createSecureContext({
    minVersion: 'TLSv1.2',
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined || key === undefined ? {} : { cert, key }),
  })
}

/** Subject and end of a certificate, such as `CN=backstop, valid until 2027-01-31`. */
function describe(pem: string): string {
  try {
    const { subject, validToDate } = new X509Certificate(pem)
    return `${subject.replaceAll('\n', ', ')}, valid until ${validToDate.toISOString().slice(0, 10)}`
  } catch {
    return 'unreadable'
  }
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g

/** True if the text is one or more certificates in PEM. Node itself ignores unreadable authorities. */
export function hasCertificates(text: string): boolean {
  const blocks = text.match(CERTIFICATE) ?? []
  try {
    for (const block of blocks) new X509Certificate(block)
    return blocks.length > 0
  } catch {
    return false
  }
}

/** True if the text is a private key in PEM without a passphrase. */
export function isPrivateKey(text: string): boolean {
  try {
    createPrivateKey(text)
    return true
  } catch {
    return false
  }
}

/** True if the key is the certificate's. False also if either is unreadable. */
export function keyFitsCertificate(cert: string, key: string): boolean {
  try {
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))
  } catch {
    return false
  }
}
