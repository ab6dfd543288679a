import { isIP } from 'node:net'
import { AppError, isTlsErrorCode, Secret } from '@backstop/kit'
import { createTransport } from 'nodemailer'
import type { MessageAnswer, SmtpStage } from '../answer.ts'
import { firstKiB } from '../first-kib.ts'
import type { Mailer } from '../mailer.ts'
import { recipientTag } from './recipient-tag.ts'

export interface SmtpOptions {
  /** smtp://user:password@host:port, or smtps:// for TLS from the first byte. */
  readonly url: Secret
  /** The address that mails come from, with or without a name. */
  readonly from: string
  /** Whether a server that refuses STARTTLS, or offers none, gets no mail. Loopback never needs it. */
  readonly requireTls: boolean
}

/** nodemailer's own defaults are minutes (nodemailer.com, "SMTP transport"). In milliseconds. */
const TIMEOUTS = { connectionTimeout: 10_000, greetingTimeout: 10_000, dnsTimeout: 10_000, socketTimeout: 30_000 }

/**
 * SMTP through a pool of five connections.
 * @throws AppError `config_invalid` when the URL or the sender cannot be used
 */
export function createSmtpMailer(options: SmtpOptions): Mailer {
  const server = parseSmtpUrl(options.url)
  const domain = /@([^@\s<>]+)>?$/.exec(options.from.trim())?.[1]
  if (domain === undefined) throw new AppError('config_invalid', 'SMTP_FROM holds no mail address')
  const local = isLoopback(server.host)
  const said = (words: string) => firstKiB(words, [new Secret(server.password)])
  const transport = createTransport({
    pool: true,
    maxConnections: 5,
    maxMessages: 100,
    host: server.host,
    port: server.port,
    secure: server.secure,
    requireTLS: options.requireTls && !local,
    // A server may offer STARTTLS and then refuse it.
    opportunisticTLS: !options.requireTls,
    // A mail catcher on this machine offers STARTTLS with a certificate that nobody signed.
    ignoreTLS: local,
    tls: { minVersion: 'TLSv1.2' },
    ...(server.user === '' ? {} : { auth: { user: server.user, pass: server.password } }),
    ...TIMEOUTS,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return {
    async send(mail, timeoutMs) {
      try {
        const message = {
          // Takes the mail out of the pool's queue, or hangs up on a server that keeps it: none is sent after its attempt.
          // nodemailer's own limits restart with every byte.
          signal: AbortSignal.timeout(timeoutMs),
          from: options.from,
          // An object, so that no address is parsed out of a string again.
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
        return { kind: 'smtp', code, stage: 'sent', text: said(info.response) }
      } catch (error) {
        return toMailAnswer(error, said)
      }
    },
    async stop() {
      transport.close()
    },
  }
}

/**
 * What says, in a provider's report of a bounce, whose mail it was: a header for those that give headers back, and the ways
 * of Postmark (metadata) and Amazon SES (message tags), which take theirs out before they send.
 */
function projectHeaders(projectId: string): Record<string, string> {
  return {
    'X-Backstop-Project': projectId,
    'X-PM-Metadata-project': projectId,
    'X-SES-MESSAGE-TAGS': `project=${projectId}`,
  }
}

/**
 * RFC 2369 and RFC 8058: mail programs show a button, and leave by one POST. One click counts only over TLS, so a link
 * without it is offered as a page.
 */
function unsubscribeHeaders(url: string | null): Record<string, string> {
  if (url === null) return {}
  const page = { 'List-Unsubscribe': `<${url}>` }
  return url.startsWith('https:') ? { ...page, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' } : page
}

/** What nodemailer adds to its errors (nodemailer.com, "Error handling"). */
interface SmtpError extends Error {
  code?: string
  /** The `code` of the error of Node that `code` stands for. */
  originalCode?: string
  responseCode?: number
  response?: string
  command?: string
}

function toMailAnswer(error: unknown, said: (words: string) => string): MessageAnswer {
  const fault = error as SmtpError
  const message = tlsMessage(fault, said)
  if (message !== undefined) return { kind: 'silence', reason: 'smtp_tls_failed', message }
  if (fault.responseCode !== undefined && fault.responseCode > 0) {
    const text = said(fault.response ?? fault.message)
    return { kind: 'smtp', code: fault.responseCode, stage: stageOf(fault), text }
  }
  const reason = SILENCES[fault.code ?? ''] ?? 'smtp_failed'
  return { kind: 'silence', reason, message: SILENCE_MESSAGES[reason] }
}

/** Why there is no TLS with the mail server, and what the operator can do; nothing where that is not the fault. */
function tlsMessage(fault: SmtpError, said: (words: string) => string): string | undefined {
  const { code, originalCode = '', command, response } = fault
  if (command === 'STARTTLS' && response !== undefined) {
    return `The mail server of this installation refused STARTTLS (${said(response)}); have SMTP_URL name one that offers TLS, or set SMTP_REQUIRE_TLS=false where mails may travel in the clear; this is on our side`
  }
  if (code !== 'ETLS' && !isTlsErrorCode(originalCode)) return undefined
  if (code === 'ETLS' || /^(ERR_SSL_|EPROTO$)/.test(originalCode)) {
    return `TLS with the mail server of this installation could not be begun (${originalCode || 'it hung up'}); smtps:// in SMTP_URL is for a port that speaks TLS from the first byte, smtp:// for one that offers STARTTLS; this is on our side`
  }
  return `The certificate of this installation's mail server is not trusted (${originalCode}); SMTP_URL has to hold the name that it is for, and NODE_EXTRA_CA_CERTS the authority that signed it, if that is your own; this is on our side`
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

type Silence = 'smtp_unreachable' | 'smtp_timeout' | 'smtp_login_failed' | 'smtp_failed'

const SILENCES: Readonly<Record<string, Silence>> = {
  ECONNECTION: 'smtp_unreachable',
  ESOCKET: 'smtp_unreachable',
  EDNS: 'smtp_unreachable',
  ETIMEDOUT: 'smtp_timeout',
  EABORT: 'smtp_timeout',
  EAUTH: 'smtp_login_failed',
  ENOAUTH: 'smtp_login_failed',
}

/** All of it is this installation's business, not the channel's. */
const SILENCE_MESSAGES: Readonly<Record<Silence, string>> = {
  smtp_unreachable: 'The mail server of this installation cannot be reached; this is on our side',
  smtp_timeout: 'The mail server of this installation did not answer in time; this is on our side',
  smtp_login_failed: 'The mail server of this installation refused our login; this is on our side',
  smtp_failed: 'The mail could not be handed over; this is on our side',
}

function parseSmtpUrl(secret: Secret) {
  const text = secret.reveal()
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || (url.protocol !== 'smtp:' && url.protocol !== 'smtps:') || url.hostname === '') {
    throw new AppError(
      'config_invalid',
      'SMTP_URL is no URL like smtp://host:587 or smtps://host:465, with the user and the password before the host',
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
