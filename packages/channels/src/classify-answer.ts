import { type ChannelKind, parseRetryAfter } from '@backstop/contracts'
import type { Answer, MailsAnswer, MailTally, MessageAnswer, SmtpStage } from './answer.ts'
import { describeSuppressed } from './describe-suppressed.ts'

/**
 * What an answer means. `delivered`: done. `retry`: try again later; `ours` is the fault of this installation, which is not
 * held against the channel (guides: R1.7). `park`: this message can never be delivered, others can. `disable`: the receiver
 * said that it wants nothing more. `reason` is a closed word for log, metric and record; `error` says it to the owner of
 * the channel.
 */
export type Outcome =
  | { kind: 'delivered'; reason: 'accepted' | 'accepted_for_some'; error: string | null }
  | { kind: 'retry'; reason: string; error: string; retryAfterMs: number | null; fault: Fault }
  | { kind: 'park'; reason: string; error: string }
  | { kind: 'disable'; reason: string; error: string }

/**
 * `some_addresses`: others of the same mail channel took it, so the channel works. `one_of_several`: something in one of the
 * alerts that a digest told.
 */
export type Fault = 'receiver' | 'ours' | 'some_addresses' | 'one_of_several'

interface Rule {
  readonly reason: string
  /** All channels when left out. */
  readonly channels?: readonly ChannelKind[]
  readonly applies: (answer: MessageAnswer) => boolean
  readonly outcome: Outcome['kind']
  readonly error: (answer: MessageAnswer) => string
}

const http = (test: (status: number, body: string) => boolean) => (answer: MessageAnswer) =>
  answer.kind === 'http' && test(answer.status, answer.body.trim())
const smtp = (test: (answer: Extract<MessageAnswer, { kind: 'smtp' }>) => boolean) => (answer: MessageAnswer) =>
  answer.kind === 'smtp' && test(answer)
const status = (answer: MessageAnswer) => (answer.kind === 'http' ? answer.status : 0)
/** A mail server says its code at the start of every line (RFC 5321 §4.2.1); a person reads it once. */
const smtpText = (answer: MessageAnswer) =>
  answer.kind === 'smtp'
    ? [answer.code, ...answer.text.split(/(?:^|\r?\n)\d{3}[ -]/).filter(Boolean)].join(' ').slice(0, 300)
    : ''
const slackWord = (answer: MessageAnswer) => (answer.kind === 'http' ? answer.body.trim().slice(0, 80) : '')

/**
 * The one table of all channels; the first rule that applies decides. Whatever it does not name is retried: only what
 * the receiver itself declared final ends a delivery or a channel (DESIGN, "Topics").
 */
const RULES: readonly Rule[] = [
  // Slack (guides: reliability §7): success is the body `ok`, and some answers are final for the hook.
  {
    reason: 'accepted',
    channels: ['slack'],
    applies: http((code, body) => code >= 200 && code < 300 && body === 'ok'),
    outcome: 'delivered',
    error: () => '',
  },
  {
    reason: 'unexpected_answer',
    channels: ['slack'],
    applies: http(code => code >= 200 && code < 300),
    outcome: 'retry',
    error: answer => `Slack answered ${status(answer)} without the word ok; check that the URL is an incoming webhook`,
  },
  {
    reason: 'slack_hook_gone',
    channels: ['slack'],
    applies: http(code => code === 403 || code === 404 || code === 410),
    outcome: 'disable',
    error: answer =>
      `Slack no longer takes messages for this webhook (${status(answer)} ${slackWord(answer)}); make a new incoming webhook and set its URL`,
  },
  {
    reason: 'slack_message_refused',
    channels: ['slack'],
    applies: http(code => code === 400),
    outcome: 'park',
    error: answer => `Slack refused this message (${slackWord(answer)}); the channel itself works on`,
  },
  // Any HTTP receiver.
  {
    reason: 'accepted',
    applies: http(code => code >= 200 && code < 300),
    outcome: 'delivered',
    error: () => '',
  },
  {
    reason: 'receiver_gone',
    applies: http(code => code === 410),
    outcome: 'disable',
    error: () =>
      'The receiver answered 410 Gone, which asks for no more deliveries; set another URL, then enable the channel again',
  },
  {
    reason: 'redirected',
    applies: http(code => code >= 300 && code < 400),
    outcome: 'retry',
    error: answer =>
      `The receiver answered ${status(answer)}, a redirect, and redirects are not followed; set the URL it redirects to`,
  },
  {
    reason: 'rate_limited',
    applies: http(code => code === 429),
    outcome: 'retry',
    error: () => 'The receiver answered 429: it gets more than it takes',
  },
  {
    reason: 'receiver_refused_credentials',
    applies: http(code => code === 401 || code === 403),
    outcome: 'retry',
    error: answer =>
      `The receiver answered ${status(answer)}; let it accept our requests, which X-Service-Signature authenticates when the channel has a secret`,
  },
  {
    reason: 'receiver_refused',
    applies: http(code => code >= 400 && code < 500),
    outcome: 'retry',
    error: answer => `The receiver answered ${status(answer)}; check that the URL is the one that takes these events`,
  },
  {
    reason: 'receiver_failed',
    applies: http(code => code >= 500),
    outcome: 'retry',
    error: answer => `The receiver answered ${status(answer)}; look at its own log for the time of this attempt`,
  },
  // Mail: what the server says of the recipient is about the channel; what it says of us is about this installation.
  { reason: 'accepted', applies: smtp(answer => answer.stage === 'sent'), outcome: 'delivered', error: () => '' },
  {
    reason: 'address_refused',
    applies: smtp(answer => answer.stage === 'recipient' && answer.code >= 500 && !isAboutUs(answer)),
    outcome: 'disable',
    error: answer =>
      `The mail server refused every address for good (${smtpText(answer)}); correct them, then enable the channel again`,
  },
  {
    reason: 'mail_refused',
    applies: smtp(answer => answer.stage === 'content' && answer.code >= 500),
    outcome: 'park',
    error: answer => `The mail server refused this mail for good (${smtpText(answer)})`,
  },
  {
    reason: 'mail_server_refused_us',
    applies: smtp(answer => answer.code >= 500 || isAboutTheSession(answer)),
    outcome: 'retry',
    error: answer =>
      `The mail server refused to work for us (${smtpText(answer)}); its settings are the operator's to check`,
  },
  {
    reason: 'mail_deferred',
    applies: smtp(() => true),
    outcome: 'retry',
    error: answer => `The mail server put this mail off (${smtpText(answer)})`,
  },
  // Nothing was sent, and nothing would be: whoever left, or cannot be reached, is not written to again.
  {
    reason: 'everybody_suppressed',
    applies: answer => answer.kind === 'not_sendable' && answer.reason === 'everybody_suppressed',
    outcome: 'park',
    error: answer => ('message' in answer ? answer.message : ''),
  },
  {
    reason: 'no_valid_address',
    applies: answer => answer.kind === 'not_sendable' && answer.reason === 'no_valid_address',
    outcome: 'disable',
    error: answer => ('message' in answer ? answer.message : ''),
  },
]

/** RFC 5321 §4.2.3: the replies that are about a mailbox. Others at RCPT TO are about the session. */
const ABOUT_THE_MAILBOX: ReadonlySet<number> = new Set([550, 551, 552, 553, 554])

/**
 * Whether a refusal at RCPT TO is about this installation, not about the address: servers that want a login, have blocked
 * us or do not relay for us say so there. One wrong setting would otherwise disable every mail channel there is.
 * X.7.Y are the codes for policy and security (RFC 3463 §3.8).
 */
function isAboutUs({ code, text }: { code: number; text: string }): boolean {
  const subject = /^\d{3}[ -]\d\.(\d{1,3})\.\d{1,3}/.exec(text)?.[1]
  if (subject !== undefined) return subject === '7'
  return !ABOUT_THE_MAILBOX.has(code) || /\brelay|\bauthenticat/i.test(text)
}

/**
 * RFC 5321 §4.2.3: 421 may be the reply to any command of a server that shuts down. RFC 4954 §6: 454 is a login or TLS
 * that fails for now, and the word of providers whose quota is used up (Amazon SES, "Errors related to the sending quotas").
 */
const ABOUT_THE_SESSION: ReadonlySet<number> = new Set([421, 454])

/**
 * Whether what is put off is put off for us: until the recipient is named, a server can speak of nothing else. Days of a
 * missing certificate at the provider would otherwise disable every mail channel there is.
 */
function isAboutTheSession({ stage, code }: { stage: SmtpStage; code: number }): boolean {
  return stage === 'session' || stage === 'sender' || ABOUT_THE_SESSION.has(code)
}

/** What an answer means for the delivery and for its channel. */
export function classifyOutcome(channel: ChannelKind, answer: Answer, nowMs: number): Outcome {
  return answer.kind === 'mails' ? classifyMails(answer) : classifyMessage(channel, answer, nowMs)
}

/**
 * What the mails of an attempt mean for their delivery. It is delivered when it has ended for every address and at least
 * one took it; while any address is open, it is retried for those.
 */
function classifyMails({ said, tally }: MailsAnswer): Outcome {
  const outcome = classifyMessage('email', said, 0)
  // Nobody has it: the answer that decides speaks for all.
  if (tally.taken === 0) return outcome
  if (tally.open > 0 && outcome.kind === 'retry') {
    const fault = outcome.fault === 'receiver' ? 'some_addresses' : outcome.fault
    return { ...outcome, fault, error: `${progressText(tally)}. ${outcome.error}` }
  }
  if (tally.refused + tally.suppressed.length === 0) return { kind: 'delivered', reason: 'accepted', error: null }
  return { kind: 'delivered', reason: 'accepted_for_some', error: leftOutText(tally) }
}

const totalOf = ({ taken, refused, open, suppressed }: MailTally) => taken + refused + open + suppressed.length

function progressText(tally: MailTally): string {
  const { taken, refused, open } = tally
  const gone = refused > 0 ? `, refused for good for ${refused}` : ''
  return `Taken for ${taken} of ${totalOf(tally)} addresses${gone}, outstanding for ${open}`
}

function leftOutText(tally: MailTally): string {
  const { taken, refused, suppressed } = tally
  const texts = [
    ...(suppressed.length > 0 ? [`${describeSuppressed(suppressed)} and got none`] : []),
    ...(refused > 0 ? [`the mail server refused ${refused} for good; take out the ones that do not exist`] : []),
  ]
  return `This mail went to ${taken} of ${totalOf(tally)} addresses: ${texts.join('; ')}`
}

function classifyMessage(channel: ChannelKind, answer: MessageAnswer, nowMs: number): Outcome {
  const rule = RULES.find(one => (one.channels?.includes(channel) ?? true) && one.applies(answer))
  if (rule === undefined) return classifyUnnamed(answer)
  const error = rule.error(answer)
  switch (rule.outcome) {
    case 'delivered':
      return { kind: 'delivered', reason: 'accepted', error: null }
    case 'retry': {
      const retryAfterMs = answer.kind === 'http' ? parseRetryAfter(answer.retryAfter, nowMs) : null
      return retry(rule.reason, error, retryAfterMs)
    }
    case 'park':
    case 'disable':
      return { kind: rule.outcome, reason: rule.reason, error }
    default:
      return rule.outcome satisfies never
  }
}

function classifyUnnamed(answer: MessageAnswer): Outcome {
  if (answer.kind === 'http' || answer.kind === 'smtp') {
    const code = answer.kind === 'http' ? answer.status : answer.code
    return retry('unexpected_answer', `The receiver answered ${code}`)
  }
  return retry(answer.reason, answer.message)
}

/** What a working installation does not have: its proxy, its mail server, its sockets, its code. */
const OURS: ReadonlySet<string> = new Set([
  'internal',
  'mail_server_refused_us',
  'proxy_failed',
  'smtp_failed',
  'smtp_login_failed',
  'smtp_not_configured',
  'smtp_timeout',
  'smtp_tls_failed',
  'smtp_unreachable',
  'stopped',
  'too_many_connections',
])

function retry(reason: string, error: string, retryAfterMs: number | null = null): Outcome {
  return { kind: 'retry', reason, error, retryAfterMs, fault: OURS.has(reason) ? 'ours' : 'receiver' }
}
