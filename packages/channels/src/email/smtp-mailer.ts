import { isIP } from 'node:net'
import { Secret } from '@backstop/kit/config'
import { isTlsErrorCode } from '@backstop/kit/egress'
import { AppError } from '@backstop/kit/errors'
import { createTransport } from 'nodemailer'
import type { MessageAnswer, SmtpStage } from '../answer/answer.ts'
import { maskedFirstKiB } from '../answer/first-kib.ts'
import type { Mailer } from '../mailer.ts'
import { recipientTag } from './recipient-tag.ts'

export interface SmtpOptions {
  /** smtp://user:password@host:port, or smtps:// for TLS from the first byte. */
  readonly url: Secret
  /** The sender's address, with or without a name. */
  readonly from: string
  /** True to send no mail to a server that refuses STARTTLS or does not offer it. Loopback is always exempt. */
  readonly requireTls: boolean
  /** Is called once for each text of the mounted file that is no valid URL. The last valid URL stays in use. */
  readonly onInvalidUrl?: () => void
}

/** Timeouts in milliseconds. The defaults of nodemailer are minutes (nodemailer.com, "SMTP transport"). */
const TIMEOUTS = { connectionTimeout: 10_000, greetingTimeout: 10_000, dnsTimeout: 10_000, socketTimeout: 30_000 }

/**
 * Creates a mailer with a pool of five SMTP connections. When the mounted file of the URL changes, the next mail uses the new server and
 * login, so that a rotation needs no restart. A file that is not valid is not used.
 * @throws AppError `config_invalid` if the URL or the sender is invalid
 */
export function createSmtpMailer(options: SmtpOptions): Mailer {
  const domain = /@([^@\s<>]+)>?$/.exec(options.from.trim())?.[1]
  let pool = openPool(options.url.reveal(), options.requireTls)
  let invalidUrl: string | undefined
  if (domain === undefined) throw new AppError('config_invalid', 'SMTP_FROM contains no mail address')

  /** Mails that are being sent by the previous pool end first. Mails that wait for one of its connections fail, and are retried. */
  function latestPool(): Pool {
    const url = options.url.revealLatest()
    if (url === pool.url || url === invalidUrl) return pool
    try {
      const next = openPool(url, options.requireTls)
      pool.transport.close()
      pool = next
    } catch {
      invalidUrl = url
      options.onInvalidUrl?.()
    }
    return pool
  }
  return {
    async send(mail, timeoutMs) {
      const { transport, toStored } = latestPool()
      try {
        const message = {
          // The signal removes a mail from the pool's queue, or closes the connection that sends it, so that no mail is
          // sent after its attempt. The limits of nodemailer restart with every byte.
          signal: AbortSignal.timeout(timeoutMs),
          from: options.from,
          // An address object, because nodemailer would parse a string and could find several addresses in it.
          to: { name: '', address: mail.to },
          subject: mail.subject,
          text: mail.text,
          html: mail.html,
          messageId: `<${mail.messageId}.${recipientTag(mail.to)}@${domain}>`,
          references: `<${mail.threadId}@${domain}>`,
          headers: {
            'Auto-Submitted': 'auto-generated',
            'X-Auto-Response-Suppress': 'All',
            ...projectHeaders(mail.projectId),
            ...unsubscribeHeaders(mail.unsubscribeUrl),
          },
        }
        const info = await transport.sendMail(message)
        const code = Number(/^\d{3}/.exec(info.response)?.[0] ?? 250)
        return { kind: 'smtp', code, stage: 'sent', text: toStored(info.response) }
      } catch (error) {
        return toMailAnswer(error, toStored)
      }
    },
    async stop() {
      pool.transport.close()
    },
  }
}

type Pool = ReturnType<typeof openPool>

/** @throws AppError `config_invalid` if the URL is invalid */
function openPool(url: string, requireTls: boolean) {
  const server = parseSmtpUrl(url)
  const local = isLoopback(server.host)
  const transport = createTransport({
    pool: true,
    maxConnections: 5,
    maxMessages: 100,
    host: server.host,
    port: server.port,
    secure: server.secure,
    requireTLS: requireTls && !local,
    // A server may offer STARTTLS and then refuse it.
    opportunisticTLS: !requireTls,
    // A mail catcher on this machine offers STARTTLS with a self-signed certificate.
    ignoreTLS: local,
    tls: { minVersion: 'TLSv1.2' },
    ...(server.user === '' ? {} : { auth: { user: server.user, pass: server.password } }),
    ...TIMEOUTS,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return { url, transport, toStored: (reply: string) => maskedFirstKiB(reply, [new Secret(server.password)]) }
}

/**
 * Headers that identify the project in a mail provider's bounce report: a header for providers that return headers, the
 * metadata of Postmark, and the message tags of Amazon SES. Postmark and Amazon SES remove their own header before
 * sending.
 */
function projectHeaders(projectId: string): Record<string, string> {
  return {
    'X-Backstop-Project': projectId,
    'X-PM-Metadata-project': projectId,
    'X-SES-MESSAGE-TAGS': `project=${projectId}`,
  }
}

/**
 * The headers with which mail programs show an unsubscribe button that sends one POST (RFC 2369, RFC 8058). RFC 8058
 * requires https, so a link without https is offered as a page.
 */
function unsubscribeHeaders(url: string | null): Record<string, string> {
  if (url === null) return {}
  const page = { 'List-Unsubscribe': `<${url}>` }
  return url.startsWith('https:') ? { ...page, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' } : page
}

/** The fields that nodemailer adds to its errors (nodemailer.com, "Error handling"). */
interface SmtpError extends Error {
  code?: string
  /** The `code` of the Node.js error, which nodemailer replaced with its own `code`. */
  originalCode?: string
  responseCode?: number
  response?: string
  command?: string
}

function toMailAnswer(error: unknown, toStored: (reply: string) => string): MessageAnswer {
  const failure = error as SmtpError
  const message = tlsMessage(failure, toStored)
  if (message !== undefined) return { kind: 'no_answer', reason: 'smtp_tls_failed', message }
  if (failure.responseCode !== undefined && failure.responseCode > 0) {
    const text = toStored(failure.response ?? failure.message)
    return { kind: 'smtp', code: failure.responseCode, stage: stageOf(failure), text }
  }
  const reason = REASONS[failure.code ?? ''] ?? 'smtp_failed'
  return { kind: 'no_answer', reason, message: MESSAGES[reason] }
}

/** Explains why TLS with the mail server failed and what the operator can do; undefined for any other failure. */
function tlsMessage(failure: SmtpError, toStored: (reply: string) => string): string | undefined {
  const { code, originalCode = '', command, response } = failure
  if (command === 'STARTTLS' && response !== undefined) {
    return `The mail server of this installation refused STARTTLS (${toStored(response)}); set SMTP_URL to a server that offers TLS, or SMTP_REQUIRE_TLS=false if mails may be sent unencrypted; this is on our side`
  }
  if (code !== 'ETLS' && !isTlsErrorCode(originalCode)) return undefined
  if (code === 'ETLS' || /^(ERR_SSL_|EPROTO$)/.test(originalCode)) {
    return `TLS with the mail server of this installation failed (${originalCode || 'it closed the connection'}); use smtps:// in SMTP_URL for a port with TLS from the first byte, smtp:// for one that offers STARTTLS; this is on our side`
  }
  return `The certificate of this installation's mail server is not trusted (${originalCode}); SMTP_URL must contain the name in the certificate, and NODE_EXTRA_CA_CERTS your own certificate authority if it signed it; this is on our side`
}

function stageOf(error: SmtpError): SmtpStage {
  switch (error.command) {
    case 'RCPT TO':
      return 'recipient'
    case 'MAIL FROM':
      return 'sender'
    case 'DATA':
      return 'content'
    default:
      return 'session'
  }
}

type NoAnswerReason = 'smtp_unreachable' | 'smtp_timeout' | 'smtp_login_failed' | 'smtp_failed'

const REASONS: Readonly<Record<string, NoAnswerReason>> = {
  ECONNECTION: 'smtp_unreachable',
  ESOCKET: 'smtp_unreachable',
  EDNS: 'smtp_unreachable',
  ETIMEDOUT: 'smtp_timeout',
  EABORT: 'smtp_timeout',
  EAUTH: 'smtp_login_failed',
  ENOAUTH: 'smtp_login_failed',
}

const MESSAGES: Readonly<Record<NoAnswerReason, string>> = {
  smtp_unreachable: 'The mail server of this installation cannot be reached; this is on our side',
  smtp_timeout: 'The mail server of this installation did not answer in time; this is on our side',
  smtp_login_failed: 'The mail server of this installation refused our login; this is on our side',
  smtp_failed: 'The mail could not be sent; this is on our side',
}

function parseSmtpUrl(text: string) {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || (url.protocol !== 'smtp:' && url.protocol !== 'smtps:') || url.hostname === '') {
    throw new AppError(
      'config_invalid',
      'SMTP_URL is not a URL like smtp://host:587 or smtps://host:465, with the user and the password before the host',
    )
  }
  const secure = url.protocol === 'smtps:'
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (secure ? 465 : 587) : Number(url.port),
    secure,
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
  }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}
