import { createSign } from 'node:crypto'
import type { EgressRequest } from '@backstop/kit/egress'
import { createSelfSignedCertificate } from '@backstop/kit/test'
import { describe, expect, test } from 'vitest'
import { createSnsVerifier, isCertificateUrl, type SnsMessage, signedText } from './sns.ts'

const NOW = new Date()
const DAY_MS = 86_400_000
const certificate = createSelfSignedCertificate('sns.amazonaws.com')
const TOPIC = 'arn:aws:sns:us-west-2:123456789012:MyTopic'
const CERT_URL = 'https://sns.us-west-2.amazonaws.com/SimpleNotificationService-f3ecfb7224c7233fe7bb5f59f96de52f.pem'

/** The shape of the samples in the SNS developer guide ("Parsing message formats"). */
const notification: Omit<SnsMessage, 'Signature'> = {
  Type: 'Notification',
  MessageId: '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324',
  TopicArn: TOPIC,
  Subject: 'My First Message',
  Message: 'Hello world!',
  Timestamp: '2012-05-02T00:54:06.655Z',
  SignatureVersion: '1',
  SigningCertURL: CERT_URL,
}
const confirmation: Omit<SnsMessage, 'Signature'> = {
  ...notification,
  Type: 'SubscriptionConfirmation',
  Subject: undefined,
  Token: '2336412f37',
  SubscribeURL: 'https://evil.example/confirm',
}

function signed(message: Omit<SnsMessage, 'Signature'>, key = certificate.key): SnsMessage {
  const whole = { ...message, Signature: 'AA==' }
  const algorithm = message.SignatureVersion === '2' ? 'sha256' : 'sha1'
  return { ...whole, Signature: createSign(algorithm).update(signedText(whole), 'utf8').sign(key, 'base64') }
}

function createTestVerifier(pem = certificate.cert, status = 200) {
  const asked: EgressRequest[] = []
  const egress = {
    async request(request: EgressRequest) {
      asked.push(request)
      return { status, headers: {}, body: Buffer.from(pem), complete: true }
    },
  }
  return { asked, verifier: createSnsVerifier({ egress, topicArns: [TOPIC] }) }
}

describe('a message of SNS', () => {
  test.each(['1', '2'] as const)(
    'with a signature of version %s is accepted, and its certificate is read once',
    async version => {
      const { asked, verifier } = createTestVerifier()
      const message = signed({ ...notification, SignatureVersion: version })
      expect(await verifier.verify(message, NOW)).toEqual(message)
      await verifier.verify(signed({ ...notification, Subject: undefined }), NOW)
      expect(asked.map(({ url }) => url)).toEqual([CERT_URL])
    },
  )

  test('signs the fields of its type in the order of their names', () => {
    expect(signedText({ ...notification, Signature: '' })).toBe(
      `Message\nHello world!\nMessageId\n${notification.MessageId}\nSubject\nMy First Message\nTimestamp\n${notification.Timestamp}\nTopicArn\n${TOPIC}\nType\nNotification\n`,
    )
  })

  const good = signed(notification)
  const otherKey = createSelfSignedCertificate('sns.amazonaws.com').key
  test.each<{ name: string; message: unknown; why: RegExp; reads: number }>([
    { name: 'that was changed', message: { ...good, Message: 'Bye' }, why: /signature is wrong/, reads: 1 },
    { name: 'that somebody else signed', message: signed(notification, otherKey), why: /signature is wrong/, reads: 1 },
    {
      name: 'signed as version 1 and named version 2',
      message: { ...good, SignatureVersion: '2' },
      why: /signature is wrong/,
      reads: 1,
    },
    {
      name: 'of a topic that is not listened to',
      message: signed({ ...notification, TopicArn: `${TOPIC}2` }),
      why: /not in SES_TOPIC_ARNS/,
      reads: 0,
    },
    {
      name: 'whose certificate lies elsewhere',
      message: signed({ ...notification, SigningCertURL: 'https://evil.example/x.pem' }),
      why: /is not one of Amazon SNS/,
      reads: 0,
    },
    { name: 'that is none', message: { Type: 'Notification' }, why: /not a message of Amazon SNS/, reads: 0 },
  ])('$name is refused', async ({ message, why, reads }) => {
    const { asked, verifier } = createTestVerifier()
    await expect(verifier.verify(message, NOW)).rejects.toThrow(why)
    expect(asked).toHaveLength(reads)
  })

  test('is refused if its certificate is invalid or expired', async () => {
    await expect(createTestVerifier('Hello').verifier.verify(good, NOW)).rejects.toThrow(
      /does not lead to a certificate/,
    )
    await expect(createTestVerifier().verifier.verify(good, new Date(NOW.getTime() + 2 * DAY_MS))).rejects.toThrow(
      /not valid now/,
    )
  })

  test('is refused as unavailable if its certificate cannot be read', async () => {
    await expect(createTestVerifier('', 503).verifier.verify(good, NOW)).rejects.toMatchObject({
      code: 'unavailable',
      retryable: true,
    })
  })

  test('that asks for a confirmation is confirmed at SNS, never at the URL in the message', async () => {
    const { asked, verifier } = createTestVerifier()
    await verifier.confirm(await verifier.verify(signed(confirmation), NOW))
    const url = new URL(asked.at(-1)?.url ?? '')
    expect(url.origin).toBe('https://sns.us-west-2.amazonaws.com')
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      Action: 'ConfirmSubscription',
      TopicArn: TOPIC,
      Token: '2336412f37',
    })
    expect(asked.some(request => request.url.includes('evil'))).toBe(false)
  })
})

test.each([
  { url: CERT_URL, good: true },
  { url: 'https://sns.cn-north-1.amazonaws.com.cn/SimpleNotificationService-1.pem', good: true },
  { url: 'http://sns.us-west-2.amazonaws.com/x.pem', good: false },
  { url: 'https://sns.us-west-2.amazonaws.com.evil.example/x.pem', good: false },
  { url: 'https://sns.us-west-2.amazonaws.com@evil.example/x.pem', good: false },
  { url: 'https://user@sns.us-west-2.amazonaws.com/x.pem', good: false },
  { url: 'https://sns.us-west-2.amazonaws.com:8443/x.pem', good: false },
  { url: 'https://sns.us-west-2.amazonaws.com/?Action=x.pem', good: false },
  { url: 'https://sns.us-west-2.amazonaws.com/x.pem?y=1', good: false },
  { url: 'https://s3.us-west-2.amazonaws.com/sns.us-west-2.amazonaws.com/x.pem', good: false },
  { url: 'https://evil.sns.us-west-2.amazonaws.com/x.pem', good: false },
  { url: 'https://sns.a.b.amazonaws.com/x.pem', good: false },
  { url: 'not a url', good: false },
])('a certificate at $url is read: $good', ({ url, good }) => expect(isCertificateUrl(url)).toBe(good))
