import { createPrivateKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import ipaddr from 'ipaddr.js'

export interface Certificate {
  /** PEM text, as node:tls accepts it. */
  readonly key: string
  readonly cert: string
}

interface Validity {
  readonly notBefore: Date
  readonly notAfter: Date
}

const TWO_DAYS = (): Validity => ({
  notBefore: new Date(Date.now() - 86_400_000),
  notAfter: new Date(Date.now() + 86_400_000),
})

/**
 * Creates a self-signed certificate for `host` (a name or an IP address), so that no private key is stored in the
 * repository. X.509 v3 as in RFC 5280 §4.1, with only the fields that TLS needs.
 */
export function createSelfSignedCertificate(host: string, validity: Validity = TWO_DAYS()): Certificate {
  return issue({ name: host, host, validity })
}

/** An authority that issues certificates for a test. */
export interface CertificateAuthority {
  readonly cert: string
  /** @param host the name or IP address of a server; a client needs none */
  issue(name: string, host?: string, validity?: Validity): Certificate
}

/** Creates an authority. Two authorities do not trust each other, also if they have the same name. */
export function createCertificateAuthority(name: string): CertificateAuthority {
  const own = issue({ name, isAuthority: true })
  return {
    cert: own.cert,
    issue: (subject, host, validity) => issue({ name: subject, host, validity, issuer: { name, key: own.key } }),
  }
}

interface Issue {
  readonly name: string
  readonly host?: string | undefined
  readonly isAuthority?: boolean
  /** Itself by default. */
  readonly issuer?: { readonly name: string; readonly key: string }
  readonly validity?: Validity | undefined
}

function issue({ name, host, isAuthority = false, issuer, validity = TWO_DAYS() }: Issue): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'prime256v1',
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  const algorithm = sequence(oid('1.2.840.10045.4.3.2'))
  const extensions = [
    ...(host === undefined ? [] : [extension('2.5.29.17', sequence(alternativeName(host)))]),
    ...(isAuthority ? [extension('2.5.29.19', sequence(element(0x01, Buffer.from([0xff]))))] : []),
  ]
  const body = sequence(
    element(0xa0, integer(2)),
    // A server may refuse two certificates of one issuer with the same number.
    element(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    commonName(issuer?.name ?? name),
    sequence(utcTime(validity.notBefore), utcTime(validity.notAfter)),
    commonName(name),
    publicKey,
    ...(extensions.length === 0 ? [] : [element(0xa3, sequence(...extensions))]),
  )
  const signature = sign('sha256', body, createPrivateKey(issuer?.key ?? privateKey))
  const der = sequence(body, algorithm, element(0x03, Buffer.concat([Buffer.from([0]), signature])))
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return { key: privateKey, cert: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n` }
}

const commonName = (name: string) => sequence(set(sequence(oid('2.5.4.3'), element(0x0c, Buffer.from(name)))))
const extension = (id: string, value: Buffer) => sequence(oid(id), element(0x04, value))

function alternativeName(host: string): Buffer {
  return ipaddr.isValid(host)
    ? element(0x87, Buffer.from(ipaddr.parse(host).toByteArray()))
    : element(0x82, Buffer.from(host))
}

function element(tag: number, content: Buffer): Buffer {
  const { length } = content
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, Math.trunc(length / 0x100), length % 0x100]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

const sequence = (...parts: Buffer[]) => element(0x30, Buffer.concat(parts))
const set = (...parts: Buffer[]) => element(0x31, Buffer.concat(parts))
const integer = (value: number) => element(0x02, Buffer.from([value]))

function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  const bytes = [first * 40 + second]
  for (const part of rest) {
    const groups = [part % 128]
    for (let left = Math.trunc(part / 128); left > 0; left = Math.trunc(left / 128)) groups.unshift((left % 128) + 128)
    bytes.push(...groups)
  }
  return element(0x06, Buffer.from(bytes))
}

function utcTime(date: Date): Buffer {
  return element(0x17, Buffer.from(`${date.toISOString().replace(/[-:T]/g, '').slice(2, 14)}Z`))
}

/**
 * Makes all TLS clients of this process trust the certificate as an authority until the returned function is called, so
 * that a refusal has another reason than an unknown authority.
 */
export function trustCertificate(certificate: Certificate): () => void {
  const before = getCACertificates('default')
  setDefaultCACertificates([...before, certificate.cert])
  return () => setDefaultCACertificates(before)
}
