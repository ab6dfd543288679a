import { createPrivateKey, generateKeyPairSync, sign } from 'node:crypto'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import ipaddr from 'ipaddr.js'

export interface Certificate {
  /** PEM text, as node:tls accepts it. */
  readonly key: string
  readonly cert: string
}

/**
 * Creates a self-signed certificate for `host` (a name or an IP address), so that no private key is stored in the
 * repository. X.509 v3 as in RFC 5280 §4.1, with only the fields that TLS needs.
 */
export function createSelfSignedCertificate(
  host: string,
  validity: { notBefore: Date; notAfter: Date } = {
    notBefore: new Date(Date.now() - 86_400_000),
    notAfter: new Date(Date.now() + 86_400_000),
  },
): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'prime256v1',
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  const name = sequence(set(sequence(oid('2.5.4.3'), element(0x0c, Buffer.from(host)))))
  const algorithm = sequence(oid('1.2.840.10045.4.3.2'))
  const subject = ipaddr.isValid(host)
    ? element(0x87, Buffer.from(ipaddr.parse(host).toByteArray()))
    : element(0x82, Buffer.from(host))
  const alternativeName = sequence(oid('2.5.29.17'), element(0x04, sequence(subject)))
  const body = sequence(
    element(0xa0, integer(2)),
    integer(1),
    algorithm,
    name,
    sequence(utcTime(validity.notBefore), utcTime(validity.notAfter)),
    name,
    publicKey,
    element(0xa3, sequence(alternativeName)),
  )
  const signature = sign('sha256', body, createPrivateKey(privateKey))
  const der = sequence(body, algorithm, element(0x03, Buffer.concat([Buffer.from([0]), signature])))
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return { key: privateKey, cert: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n` }
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
