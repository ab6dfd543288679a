/**
 * Verifies messages of Amazon SNS by its developer guide ("Verifying the signatures of Amazon SNS messages"). Nothing in a message is
 * trusted before its signature is verified. Its SubscribeURL is never called, because anyone could make this process call any URL with
 * it.
 */
import { createVerify, X509Certificate } from 'node:crypto'
import type { Egress } from '@backstop/kit/egress'
import { AppError } from '@backstop/kit/errors'
import { z } from 'zod'

const SnsMessage = z.object({
  Type: z.enum(['Notification', 'SubscriptionConfirmation', 'UnsubscribeConfirmation']),
  MessageId: z.string(),
  TopicArn: z.string(),
  Subject: z.string().nullish(),
  Message: z.string(),
  Timestamp: z.string(),
  SignatureVersion: z.enum(['1', '2']),
  Signature: z.string().regex(/^[A-Za-z0-9+/]+={0,2}$/),
  SigningCertURL: z.string(),
  SubscribeURL: z.string().optional(),
  Token: z.string().optional(),
})
export type SnsMessage = z.infer<typeof SnsMessage>

/** Services and settings of the verifier. */
export interface SnsOptions {
  readonly egress: Pick<Egress, 'request'>
  /** ARNs of the accepted topics. Messages of other topics are refused. */
  readonly topicArns: readonly string[]
}

/** SNS has few certificates, which change once a year. The cache is bounded in any case. */
const CERTIFICATES_KEPT = 16
const TIMEOUT_MS = 5_000

/** Verifies messages of Amazon SNS. */
export interface SnsVerifier {
  /** @throws AppError `malformed_event`, `signature_rejected`; `unavailable` if the certificate could not be read */
  verify(given: unknown, now: Date): Promise<SnsMessage>
  /** Confirms the subscription with a request to the region of the configured topic, not with the URL in the message. */
  confirm(message: SnsMessage): Promise<void>
}

/** Creates the verifier, with a cache of certificates. */
export function createSnsVerifier({ egress, topicArns }: SnsOptions): SnsVerifier {
  const certificates = new Map<string, X509Certificate>()

  async function certificateAt(url: string): Promise<X509Certificate> {
    const known = certificates.get(url)
    if (known !== undefined) return known
    const { status, body } = await egress.request({ url, method: 'GET', headers: {}, timeoutMs: TIMEOUT_MS })
    if (status !== 200)
      throw new AppError('unavailable', `Amazon SNS answered ${status} when asked for its certificate`, {
        retryable: true,
      })
    let certificate: X509Certificate
    try {
      certificate = new X509Certificate(body)
    } catch (cause) {
      throw rejected('its certificate URL does not lead to a certificate', cause)
    }
    if (certificates.size >= CERTIFICATES_KEPT) certificates.clear()
    certificates.set(url, certificate)
    return certificate
  }

  return {
    async verify(given, now) {
      const parsed = SnsMessage.safeParse(given)
      if (!parsed.success) throw new AppError('malformed_event', 'The body is not a message of Amazon SNS')
      const message = parsed.data
      if (!topicArns.includes(message.TopicArn)) throw rejected('its topic is not in SES_TOPIC_ARNS')
      if (!isCertificateUrl(message.SigningCertURL)) throw rejected('its certificate URL is not one of Amazon SNS')
      const certificate = await certificateAt(message.SigningCertURL)
      const isValidNow = now >= certificate.validFromDate && now <= certificate.validToDate
      if (!isValidNow) throw rejected('its certificate is not valid now')
      const verifier = createVerify(message.SignatureVersion === '2' ? 'sha256' : 'sha1')
      verifier.update(signedText(message), 'utf8')
      if (!verifier.verify(certificate.publicKey, message.Signature, 'base64')) throw rejected('its signature is wrong')
      return message
    },
    async confirm({ TopicArn, Token = '' }) {
      const [, partition = '', , region = ''] = TopicArn.split(':')
      const domain = partition === 'aws-cn' ? 'amazonaws.com.cn' : 'amazonaws.com'
      const query = new URLSearchParams({ Action: 'ConfirmSubscription', TopicArn, Token, Version: '2010-03-31' })
      const url = `https://sns.${region}.${domain}/?${query}`
      const { status } = await egress.request({ url, method: 'GET', headers: {}, timeoutMs: TIMEOUT_MS })
      if (status !== 200)
        throw new AppError('unavailable', `Amazon SNS answered ${status} to the confirmation of the subscription`, {
          retryable: true,
        })
    },
  }
}

/** Certificates are remembered by their URL. */
const MAX_URL_LENGTH = 512
const CERTIFICATE_HOST = /^sns\.[a-z0-9-]{3,}\.amazonaws\.com(\.cn)?$/

/** True if the certificate URL is a .pem file at an SNS host, by https, without query, port or user. */
export function isCertificateUrl(text: string): boolean {
  if (text.length > MAX_URL_LENGTH || !URL.canParse(text)) return false
  const url = new URL(text)
  const isPlain = url.username === '' && url.password === '' && url.port === '' && url.search === '' && url.hash === ''
  return url.protocol === 'https:' && isPlain && CERTIFICATE_HOST.test(url.hostname) && url.pathname.endsWith('.pem')
}

const SIGNED_FIELDS = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
  UnsubscribeConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
} as const

/** The text that SNS signs: certain fields in the order of their names, each as a line with the name and a line with the value. */
export function signedText(message: SnsMessage): string {
  return SIGNED_FIELDS[message.Type]
    .flatMap(name => (message[name] == null ? [] : [`${name}\n${message[name]}\n`]))
    .join('')
}

function rejected(why: string, cause?: unknown): AppError {
  return new AppError('signature_rejected', `Message rejected: ${why}`, cause === undefined ? {} : { cause })
}
