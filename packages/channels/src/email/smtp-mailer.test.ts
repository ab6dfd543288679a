import { Secret } from '@backstop/kit/config'
import { createSelfSignedCertificate, trustCertificate, until } from '@backstop/kit/test'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { type SmtpScript, startScriptedSmtpServer } from '../../test/scripted-smtp-server.ts'
import type { Mail } from '../mailer.ts'
import { createSmtpMailer } from './smtp-mailer.ts'

const mail: Mail = {
  to: 'a@example.com',
  subject: 'Hello',
  text: 'In words',
  html: '<p>In words</p>',
  messageId: 'dlv_1',
  threadId: 'inc_1',
  projectId: 'prj_1',
  unsubscribeUrl: 'https://api.example.com/v1/unsubscribe/v1.k1.token',
}
const FROM = 'Backstop <alerts@mail.example.com>'

async function sendTo(script: SmtpScript, message: Mail = mail) {
  const recipients: string[] = []
  const note = (line: string) => {
    recipients.push(line)
    return '250 fine'
  }
  const server = await startScriptedSmtpServer({ ...script, answers: { 'RCPT TO': note, ...script.answers } })
  const mailer = createSmtpMailer({ url: new Secret(server.url), from: FROM, requireTls: true })
  try {
    return { answer: await mailer.send(message, 20_000), mails: server.mails, recipients }
  } finally {
    await mailer.stop()
    await server.stop()
  }
}

describe('a mail that the server accepts', () => {
  test('returns the server’s reply, and has the headers for bounces, auto-replies and threads', async () => {
    const { answer, mails } = await sendTo({ answers: { content: '250 2.0.0 queued as 42' } })
    expect(answer).toEqual({ kind: 'smtp', code: 250, stage: 'sent', text: '250 2.0.0 queued as 42' })
    const [head = ''] = mails[0]?.split('\n\n') ?? []
    expect(head).toMatch(/^Message-ID: <dlv_1\.[0-9a-f]{12}@mail\.example\.com>$/m)
    expect(head).toMatch(/^References: <inc_1@mail\.example\.com>$/m)
    expect(head).toMatch(/^X-Backstop-Project: prj_1$/m)
    expect(head).toMatch(/^X-PM-Metadata-project: prj_1$/im)
    expect(head).toMatch(/^X-SES-MESSAGE-TAGS: project=prj_1$/im)
    expect(head).toMatch(/^Auto-Submitted: auto-generated$/m)
    expect(head).toMatch(/^From: Backstop <alerts@mail\.example\.com>$/m)
    expect(head).toMatch(/^To: a@example\.com$/m)
  })

  test('offers to unsubscribe with one POST, with a page if the link is not https, and not at all without a link', async () => {
    const headOf = async (unsubscribeUrl: string | null) =>
      (await sendTo({}, { ...mail, unsubscribeUrl })).mails[0]?.split('\n\n')[0]?.replace(/\n\s+/g, ' ') ?? ''
    const https = await headOf(mail.unsubscribeUrl)
    expect(https).toMatch(/^List-Unsubscribe: <https:\/\/api\.example\.com\/v1\/unsubscribe\/v1\.k1\.token>$/m)
    expect(https).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click$/m)
    const http = await headOf('http://127.0.0.1:8082/v1/unsubscribe/v1.k1.token')
    expect(http).toMatch(/^List-Unsubscribe: <http:/m)
    expect(http).not.toMatch(/^List-Unsubscribe-Post/m)
    expect(await headOf(null)).not.toMatch(/^List-/m)
  })

  test('has the same Message-ID at every attempt, and another one for each recipient', async () => {
    const idOf = async (to: string) =>
      /^Message-ID: (.*)$/m.exec((await sendTo({}, { ...mail, to })).mails[0] ?? '')?.[1]
    const id = await idOf('a@example.com')
    expect(await idOf('a@example.com')).toBe(id)
    expect(await idOf('b@example.com')).not.toBe(id)
  })

  test.each(['subject', 'messageId', 'projectId', 'threadId', 'unsubscribeUrl'] as const)(
    'gains no header and no recipient from line breaks in its %s',
    async field => {
      const evil = `${mail[field]}\r\nBcc: everyone@example.org\r\n\r\nbody`
      const { mails, recipients } = await sendTo({}, { ...mail, [field]: evil })
      const head = mails[0]?.split('\n\n')[0] ?? ''
      expect(head).not.toMatch(/^Bcc:/im)
      expect(recipients).toEqual(['RCPT TO:<a@example.com>'])
    },
  )
})

describe('a mail that the server does not accept', () => {
  test.each<{ name: string; script: SmtpScript; stage: string; code: number }>([
    {
      name: 'any recipient, permanently',
      script: { answers: { 'RCPT TO': '550 5.1.1 unknown' } },
      stage: 'recipient',
      code: 550,
    },
    {
      name: 'any recipient, temporarily',
      script: { answers: { 'RCPT TO': '450 4.2.1 busy' } },
      stage: 'recipient',
      code: 450,
    },
    { name: 'the sender', script: { answers: { 'MAIL FROM': '553 not verified' } }, stage: 'sender', code: 553 },
    {
      name: 'the content, permanently',
      script: { answers: { content: '554 5.7.1 spam' } },
      stage: 'content',
      code: 554,
    },
    {
      name: 'the content, temporarily',
      script: { answers: { content: '451 4.3.0 later' } },
      stage: 'content',
      code: 451,
    },
    {
      name: 'the connection, with its greeting',
      script: { greeting: '421 4.3.2 closing' },
      stage: 'session',
      code: 421,
    },
  ])('because it refuses $name', async ({ script, stage, code }) => {
    expect((await sendTo(script)).answer).toMatchObject({ kind: 'smtp', stage, code })
  })

  test('because it hangs times out within the deadline, like the mails that wait for a connection', async () => {
    const server = await startScriptedSmtpServer({ answers: { content: 'hang' } })
    const mailer = createSmtpMailer({ url: new Secret(server.url), from: FROM, requireTls: true })
    const sending = Array.from({ length: 5 }, () => mailer.send(mail, 5_000))
    await until('all connections of the pool to hang', () => server.mails.length === 5)
    const answers = await Promise.all([mailer.send(mail, 500), mailer.send(mail, 500)])
    expect(server.mails).toHaveLength(5)
    answers.push(...(await Promise.all(sending)))
    for (const answer of answers) expect(answer).toMatchObject({ kind: 'no_answer', reason: 'smtp_timeout' })
    await mailer.stop()
    await server.stop()
  })

  test('because nothing listens is reported as unreachable', async () => {
    const server = await startScriptedSmtpServer()
    await server.stop()
    const mailer = createSmtpMailer({ url: new Secret(server.url), from: FROM, requireTls: true })
    expect(await mailer.send(mail, 20_000)).toMatchObject({ kind: 'no_answer', reason: 'smtp_unreachable' })
    await mailer.stop()
  })

  test('because it refuses the login does not reveal the password that the server echoes', async () => {
    const server = await startScriptedSmtpServer({
      answers: { EHLO: '250 AUTH PLAIN LOGIN', 'AUTH PLAIN': '535 5.7.8 canary-password is wrong' },
    })
    const url = server.url.replace('//', '//user:canary-password@')
    const mailer = createSmtpMailer({ url: new Secret(url), from: FROM, requireTls: true })
    const answer = await mailer.send(mail, 20_000)
    expect(answer).toMatchObject({ kind: 'smtp', stage: 'session', code: 535 })
    expect(JSON.stringify(answer)).not.toContain('canary')
    await mailer.stop()
    await server.stop()
  })
})

describe('a login that is rotated', () => {
  test('is the one that the file has at the time of the mail, and the last valid one while the file has none', async () => {
    const accepted = ['first']
    const server = await startScriptedSmtpServer({
      answers: {
        EHLO: '250 AUTH PLAIN',
        'AUTH PLAIN': line => (accepted.some(one => line.includes(encoded(one))) ? '235 welcome' : '535 wrong'),
      },
    })
    const urlWith = (password: string) => server.url.replace('//', `//user:${password}@`)
    let onFile = urlWith('first')
    const onInvalidUrl = vi.fn()
    const url = new Secret(onFile, () => onFile)
    const mailer = createSmtpMailer({ url, from: FROM, requireTls: true, onInvalidUrl })
    onTestFinished(async () => {
      await mailer.stop()
      await server.stop()
    })
    const codeOfMail = async () => ((await mailer.send(mail, 20_000)) as { code?: number }).code
    expect(await codeOfMail()).toBe(250)
    accepted.push('second')
    onFile = urlWith('second')
    expect(await codeOfMail()).toBe(250)
    expect(onInvalidUrl).not.toHaveBeenCalled()
    onFile = urlWith('second/with#signs')
    expect([await codeOfMail(), await codeOfMail()]).toEqual([250, 250])
    expect(onInvalidUrl).toHaveBeenCalledOnce()
    accepted.splice(0, 2)
    onFile = urlWith('third')
    expect(await codeOfMail()).toBe(535)
  })
})

/** The argument of AUTH PLAIN. */
const encoded = (password: string) => Buffer.from(`\0user\0${password}`).toString('base64')

/** 127.0.0.1 in IPv6 notation, which the mailer does not recognise as loopback. */
const ELSEWHERE = '::ffff:127.0.0.1'
/** A new certificate for each test, because `trustCertificate` adds it to the trusted authorities of the whole process. */
const selfSigned = () => createSelfSignedCertificate(ELSEWHERE)

interface MailRoute {
  scheme?: 'smtp' | 'smtps'
  host?: string
  requireTls?: boolean
}

async function sendBy(
  { scheme = 'smtp', host = `[${ELSEWHERE}]`, requireTls = true }: MailRoute,
  script: SmtpScript = {},
) {
  const server = await startScriptedSmtpServer(script)
  const mailer = createSmtpMailer({ url: new Secret(`${scheme}://${host}:${server.port}`), from: FROM, requireTls })
  try {
    const answer = await mailer.send(mail, 20_000)
    return { answer, mails: server.mails.length, unencrypted: server.unencrypted.length }
  } finally {
    await mailer.stop()
    await server.stop()
  }
}

const offersStartTls = (certificate = selfSigned()): SmtpScript => ({ tls: { from: 'starttls', certificate } })
const refusesOffered: SmtpScript = {
  answers: { EHLO: '250-fine\r\n250 STARTTLS', STARTTLS: '454 4.7.0 TLS not available' },
}
const tlsFailed = (message: RegExp) => ({
  kind: 'no_answer',
  reason: 'smtp_tls_failed',
  message: expect.stringMatching(message),
})

describe('unencrypted mail', () => {
  test.each([
    { name: 'offers no STARTTLS', script: {} },
    { name: 'offers STARTTLS and refuses it', script: refusesOffered },
    { name: 'offers STARTTLS with a self-signed certificate', script: offersStartTls() },
  ])('is not sent to a server that $name if TLS is required', async ({ script }) => {
    expect(await sendBy({}, script)).toMatchObject({ answer: { kind: 'no_answer' }, mails: 0 })
  })

  test.each([
    { name: 'offers no STARTTLS', script: {} },
    { name: 'offers STARTTLS and refuses it', script: refusesOffered },
  ])('is sent to a server that $name if TLS is not required', async ({ script }) => {
    expect(await sendBy({ requireTls: false }, script)).toMatchObject({ answer: { stage: 'sent' }, unencrypted: 1 })
  })

  test('is not sent to a server with a self-signed certificate, even if TLS is not required', async () => {
    expect(await sendBy({ requireTls: false }, offersStartTls())).toMatchObject({
      answer: { kind: 'no_answer' },
      mails: 0,
    })
  })

  test.each([
    { name: 'offers no STARTTLS', script: {} },
    { name: 'offers STARTTLS with a self-signed certificate', script: offersStartTls() },
  ])('is sent to a server on this machine that $name, even if TLS is required', async ({ script }) => {
    expect(await sendBy({ host: '127.0.0.1' }, script)).toMatchObject({ answer: { stage: 'sent' }, unencrypted: 1 })
  })
})

describe('TLS', () => {
  test.each(['starttls', 'first_byte'] as const)('from %s with a trusted certificate carries mail', async from => {
    const certificate = selfSigned()
    onTestFinished(trustCertificate(certificate))
    const way = { scheme: from === 'starttls' ? 'smtp' : 'smtps' } as const
    expect(await sendBy(way, { tls: { from, certificate } })).toMatchObject({
      answer: { kind: 'smtp', stage: 'sent' },
      mails: 1,
      unencrypted: 0,
    })
  })

  test.each(['starttls', 'first_byte'] as const)(
    'from %s with a self-signed certificate fails, and the message says how to trust it',
    async from => {
      const way = { scheme: from === 'starttls' ? 'smtp' : 'smtps' } as const
      const { answer } = await sendBy(way, { tls: { from, certificate: selfSigned() } })
      expect(answer).toEqual(tlsFailed(/certificate.*\(DEPTH_ZERO_SELF_SIGNED_CERT\).*NODE_EXTRA_CA_CERTS/))
    },
  )

  test('with a certificate for another name fails, and the message names SMTP_URL', async () => {
    const certificate = createSelfSignedCertificate('mail.example.com')
    onTestFinished(trustCertificate(certificate))
    const { answer } = await sendBy({}, offersStartTls(certificate))
    expect(answer).toEqual(tlsFailed(/certificate.*\(ERR_TLS_CERT_ALTNAME_INVALID\).*SMTP_URL/))
  })

  test.each([
    { name: 'does not know STARTTLS', script: {}, said: '502 5.5.1 no such command' },
    { name: 'refuses STARTTLS', script: refusesOffered, said: '454 4.7.0 TLS not available' },
  ])(
    'that a server lacks because it $name fails, and the message has the reply and the remedy',
    async ({ script, said }) => {
      expect((await sendBy({}, script)).answer).toEqual({
        kind: 'no_answer',
        reason: 'smtp_tls_failed',
        message: `The mail server of this installation refused STARTTLS (${said}); set SMTP_URL to a server that offers TLS, or SMTP_REQUIRE_TLS=false if mails may be sent unencrypted; this is on our side`,
      })
    },
  )

  test('by smtps:// fails with a server that begins without TLS, and the message names the scheme', async () => {
    const { answer } = await sendBy({ scheme: 'smtps' })
    expect(answer).toEqual(tlsFailed(/\(ERR_SSL_WRONG_VERSION_NUMBER\).*smtps:\/\//))
  })
})

describe('the settings', () => {
  test.each([
    { name: 'no URL', url: 'mail.example.com:587', from: FROM },
    { name: 'another scheme', url: 'https://mail.example.com', from: FROM },
    { name: 'a sender without an address', url: 'smtp://mail.example.com', from: 'Backstop' },
  ])('with $name refuse to start', ({ url, from }) => {
    expect(() => createSmtpMailer({ url: new Secret(url), from, requireTls: true })).toThrow(/SMTP_/)
  })
})
