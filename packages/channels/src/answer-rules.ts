import type { ChannelKind } from '@backstop/contracts'
import type { MessageAnswer, SmtpStage } from './answer.ts'

/** The meaning of the answers to which it applies. */
export interface Rule {
  readonly reason: string
  /** The channel kinds of the rule; every kind by default. */
  readonly channels?: readonly ChannelKind[]
  readonly applies: (answer: MessageAnswer) => boolean
  readonly outcome: 'delivered' | 'retry' | 'dead_letter' | 'disable'
  readonly error: (answer: MessageAnswer) => string
}

const http = (test: (status: number, body: string) => boolean) => (answer: MessageAnswer) =>
  answer.kind === 'http' && test(answer.status, answer.body.trim())
const smtp = (test: (answer: Extract<MessageAnswer, { kind: 'smtp' }>) => boolean) => (answer: MessageAnswer) =>
  answer.kind === 'smtp' && test(answer)
const status = (answer: MessageAnswer) => (answer.kind === 'http' ? answer.status : 0)
/** Every line of an SMTP reply begins with the code (RFC 5321 §4.2.1). The text for people contains the code once. */
const smtpText = (answer: MessageAnswer) =>
  answer.kind === 'smtp'
    ? [answer.code, ...answer.text.split(/(?:^|\r?\n)\d{3}[ -]/).filter(Boolean)].join(' ').slice(0, 300)
    : ''
const bodyText = (answer: MessageAnswer) => (answer.kind === 'http' ? answer.body.trim().slice(0, 200) : '')

const TEAMS_SWITCHED_OFF = /WorkflowTriggerIsNotEnabled/

/**
 * The rules for all kinds; the first rule that applies decides. An answer without a rule is retried, so that a delivery
 * or a channel ends only if the receiver declares it final.
 */
export const RULES: readonly Rule[] = [
  // Slack: a successful answer has the body `ok`. 403, 404 and 410 are final for the webhook.
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
    error: answer =>
      `Slack answered ${status(answer)} with another body than ok; check that the URL is an incoming webhook`,
  },
  {
    reason: 'slack_hook_gone',
    channels: ['slack'],
    applies: http(code => code === 403 || code === 404 || code === 410),
    outcome: 'disable',
    error: answer =>
      `Slack no longer accepts messages for this webhook (${status(answer)} ${bodyText(answer)}); create a new incoming webhook and set its URL`,
  },
  {
    reason: 'slack_message_refused',
    channels: ['slack'],
    applies: http(code => code === 400),
    outcome: 'dead_letter',
    error: answer => `Slack rejected this message (${bodyText(answer)}); the channel stays enabled`,
  },
  // PagerDuty accepts an event with 202, and asks for a retry after 429 and 5xx only. Its 400 has a JSON body with `errors`
  // (https://developer.pagerduty.com/docs/events-api-v2-overview, "Response Codes & Retry Logic").
  {
    reason: 'unexpected_answer',
    channels: ['pagerduty'],
    applies: http(code => code >= 200 && code < 300 && code !== 202),
    outcome: 'retry',
    error: answer =>
      `PagerDuty accepts an event with 202, and the answer was ${status(answer)}; check that events_url is the Events API v2`,
  },
  {
    reason: 'pagerduty_key_refused',
    channels: ['pagerduty'],
    applies: http((code, body) => code === 400 && /routing[ _]key/i.test(body)),
    outcome: 'disable',
    error: () =>
      'PagerDuty rejects the routing key; set the Integration Key of an Events API v2 integration, and check that events_url is in the region of the account',
  },
  {
    reason: 'pagerduty_event_refused',
    channels: ['pagerduty'],
    applies: http(code => code === 400),
    outcome: 'dead_letter',
    error: answer => `PagerDuty rejected this event (${bodyText(answer)}); the channel stays enabled`,
  },
  // Teams: a workflow that was deleted or switched off answers 400 with this code; only the state tells them apart. Not
  // documented; reported by other senders. No answer of a workflow is final for one message.
  {
    reason: 'teams_workflow_deleted',
    channels: ['teams'],
    applies: http((code, body) => code === 400 && TEAMS_SWITCHED_OFF.test(body) && /['"]Deleted['"]/.test(body)),
    outcome: 'disable',
    error: () => 'The workflow of this webhook was deleted; create a new workflow in Teams and set its URL',
  },
  {
    reason: 'teams_workflow_off',
    channels: ['teams'],
    applies: http((code, body) => code === 400 && TEAMS_SWITCHED_OFF.test(body)),
    outcome: 'retry',
    error: () => 'The workflow of this webhook is switched off; switch it on in Teams or Power Automate',
  },
  {
    reason: 'receiver_refused',
    channels: ['teams'],
    applies: http(code => code >= 400 && code < 500 && code !== 410 && code !== 429),
    outcome: 'retry',
    error: answer =>
      `The workflow answered ${status(answer)} (${bodyText(answer)}); check that it starts when a Teams webhook request is received, that anyone may trigger it, and that the URL is current`,
  },
  // Discord: 404 is final for the webhook, and so is the code 50027 (invalid token)
  // (https://discord.com/developers/docs/topics/opcodes-and-status-codes). Discord blocks an address that makes more
  // than 10,000 requests with such answers in ten minutes (https://discord.com/developers/docs/topics/rate-limits).
  {
    reason: 'discord_hook_gone',
    channels: ['discord'],
    applies: http((code, body) => code === 404 || (code === 401 && /"code": ?50027\b/.test(body))),
    outcome: 'disable',
    error: answer =>
      `Discord no longer accepts messages for this webhook (${status(answer)} ${bodyText(answer)}); create a new webhook and set its URL`,
  },
  {
    reason: 'discord_message_refused',
    channels: ['discord'],
    applies: http(code => code === 400),
    outcome: 'dead_letter',
    error: answer => `Discord rejected this message (${bodyText(answer)}); the channel stays enabled`,
  },
  {
    reason: 'receiver_refused',
    channels: ['discord'],
    applies: http(code => code === 401 || code === 403),
    outcome: 'retry',
    error: answer =>
      `Discord answered ${status(answer)} (${bodyText(answer)}); check that the URL is the one of a webhook, and that Discord does not block the address of this installation`,
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
      'The receiver answered 410 Gone, which means no more deliveries; set another URL, then enable the channel again',
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
    error: () => 'The receiver answered 429 Too Many Requests; raise its rate limit if this continues',
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
    error: answer => `The receiver answered ${status(answer)}; check that the URL accepts these events`,
  },
  {
    reason: 'receiver_failed',
    applies: http(code => code >= 500),
    outcome: 'retry',
    error: answer => `The receiver answered ${status(answer)}; read its log at the time of this attempt`,
  },
  // Mail: a refused recipient is a fault of the channel, a refused sender is a fault of this installation.
  { reason: 'accepted', applies: smtp(answer => answer.stage === 'sent'), outcome: 'delivered', error: () => '' },
  {
    reason: 'address_refused',
    applies: smtp(answer => answer.stage === 'recipient' && answer.code >= 500 && !isOurFault(answer)),
    outcome: 'disable',
    error: answer =>
      `The mail server refused every address permanently (${smtpText(answer)}); correct them, then enable the channel again`,
  },
  {
    reason: 'mail_refused',
    applies: smtp(answer => answer.stage === 'content' && answer.code >= 500),
    outcome: 'dead_letter',
    error: answer => `The mail server refused this mail permanently (${smtpText(answer)})`,
  },
  {
    reason: 'mail_server_refused_us',
    applies: smtp(answer => answer.code >= 500 || isSessionRefusal(answer)),
    outcome: 'retry',
    error: answer =>
      `The mail server refused this installation (${smtpText(answer)}); the operator has to check SMTP_URL and SMTP_FROM`,
  },
  {
    reason: 'mail_deferred',
    applies: smtp(() => true),
    outcome: 'retry',
    error: answer => `The mail server deferred this mail (${smtpText(answer)})`,
  },
  // Nothing was sent and a retry would send nothing, because all addresses are suppressed or invalid.
  {
    reason: 'everybody_suppressed',
    applies: answer => answer.kind === 'not_sendable' && answer.reason === 'everybody_suppressed',
    outcome: 'dead_letter',
    error: answer => ('message' in answer ? answer.message : ''),
  },
  {
    reason: 'no_valid_address',
    applies: answer => answer.kind === 'not_sendable' && answer.reason === 'no_valid_address',
    outcome: 'disable',
    error: answer => ('message' in answer ? answer.message : ''),
  },
]

/** The replies to RCPT TO about the mailbox (RFC 5321 §4.2.3). All other replies are about the session. */
const MAILBOX_REPLIES: ReadonlySet<number> = new Set([550, 551, 552, 553, 554])

/**
 * True if a refusal at RCPT TO is caused by this installation: some servers check login, relaying and blocklists only
 * at this step. Without the check one wrong setting would disable every mail channel. X.7.Y are the codes for policy
 * and security (RFC 3463 §3.8).
 */
function isOurFault({ code, text }: { code: number; text: string }): boolean {
  const subject = /^\d{3}[ -]\d\.(\d{1,3})\.\d{1,3}/.exec(text)?.[1]
  if (subject !== undefined) return subject === '7'
  return !MAILBOX_REPLIES.has(code) || /\brelay|\bauthenticat/i.test(text)
}

/**
 * Temporary replies about the session. 421: the server shuts down (RFC 5321 §4.2.3). 454: login or TLS failed
 * temporarily (RFC 4954 §6), or the sending quota is used up (Amazon SES, "Errors related to the sending quotas").
 */
const SESSION_REPLIES: ReadonlySet<number> = new Set([421, 454])

/**
 * True if a temporary refusal is caused by this installation: before RCPT TO the server knows no recipient. Without the
 * check five days of such refusals would disable every mail channel.
 */
function isSessionRefusal({ stage, code }: { stage: SmtpStage; code: number }): boolean {
  return stage === 'session' || stage === 'sender' || SESSION_REPLIES.has(code)
}
