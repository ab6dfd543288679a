import type { ChannelKind } from '@backstop/contracts'
import type { MessageAnswer, SmtpStage } from './answer.ts'

/** The meaning of the answers to which it applies. */
export interface Rule {
  readonly reason: string
  /** The channel kind of the rule; every kind if absent. */
  readonly channel?: ChannelKind
  readonly applies: (answer: MessageAnswer) => boolean
  readonly outcome: 'delivered' | 'retry' | 'dead_letter' | 'disable'
  readonly error: (answer: MessageAnswer) => string
}

const ruleFor =
  (outcome: Rule['outcome']) =>
  (reason: string, applies: Rule['applies'], error: string | Rule['error']): Rule => ({
    outcome,
    reason,
    applies,
    error: typeof error === 'string' ? () => error : error,
  })
const delivered = (applies: Rule['applies']) => ruleFor('delivered')('accepted', applies, '')
const retry = ruleFor('retry')
const deadLetter = ruleFor('dead_letter')
const disable = ruleFor('disable')
const only = (channel: ChannelKind, ...rules: readonly Rule[]) => rules.map(rule => ({ ...rule, channel }))

const http = (test: (status: number, body: string) => boolean) => (answer: MessageAnswer) =>
  answer.kind === 'http' && test(answer.status, answer.body.trim())
const smtp = (test: (answer: Extract<MessageAnswer, { kind: 'smtp' }>) => boolean) => (answer: MessageAnswer) =>
  answer.kind === 'smtp' && test(answer)
const notSendable = (reason: string) => (answer: MessageAnswer) =>
  answer.kind === 'not_sendable' && answer.reason === reason
const isSuccess = (code: number) => code >= 200 && code < 300
const status = (answer: MessageAnswer) => (answer.kind === 'http' ? answer.status : 0)
/** Every line of an SMTP reply begins with the code (RFC 5321 §4.2.1). The text for people contains the code once. */
const smtpText = (answer: MessageAnswer) =>
  answer.kind === 'smtp'
    ? [answer.code, ...answer.text.split(/(?:^|\r?\n)\d{3}[ -]/).filter(Boolean)].join(' ').slice(0, 300)
    : ''
const bodyText = (answer: MessageAnswer) => (answer.kind === 'http' ? answer.body.trim().slice(0, 200) : '')
const ownMessage = (answer: MessageAnswer) => ('message' in answer ? answer.message : '')

const TEAMS_SWITCHED_OFF = /WorkflowTriggerIsNotEnabled/
/** "Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429", as connectors answer. */
const TEAMS_FAILURE = /\bdelivery failed\b|\breturned HTTP error\b|"error" ?: ?[{"]/i

/**
 * The rules for all kinds; the first rule that applies decides. An answer without a rule is retried, so that a delivery
 * or a channel ends only if the receiver declares it final.
 */
export const RULES: readonly Rule[] = [
  // A successful answer has the body `ok`. 403, 404 and 410 are final for the webhook.
  ...only(
    'slack',
    delivered(http((code, body) => isSuccess(code) && body === 'ok')),
    retry(
      'unexpected_answer',
      http(isSuccess),
      answer => `Slack answered ${status(answer)} with another body than ok; check that the URL is an incoming webhook`,
    ),
    disable(
      'slack_hook_gone',
      http(code => code === 403 || code === 404 || code === 410),
      answer =>
        `Slack no longer accepts messages for this webhook (${status(answer)} ${bodyText(answer)}); create a new incoming webhook and set its URL`,
    ),
    deadLetter(
      'slack_message_refused',
      http(code => code === 400),
      answer => `Slack rejected this message (${bodyText(answer)}); the channel stays enabled`,
    ),
  ),
  // PagerDuty accepts an event with 202, and asks for a retry after 429 and 5xx only. Its 400 has a JSON body with `errors`
  // (https://developer.pagerduty.com/docs/events-api-v2-overview, "Response Codes & Retry Logic").
  ...only(
    'pagerduty',
    retry(
      'unexpected_answer',
      http(code => isSuccess(code) && code !== 202),
      answer =>
        `PagerDuty accepts an event with 202, and the answer was ${status(answer)}; check that events_url is the Events API v2`,
    ),
    disable(
      'pagerduty_key_refused',
      http((code, body) => code === 400 && /routing[ _]key/i.test(body)),
      'PagerDuty rejects the routing key; set the Integration Key of an Events API v2 integration, and check that events_url is in the region of the account',
    ),
    deadLetter(
      'pagerduty_event_refused',
      http(code => code === 400),
      answer => `PagerDuty rejected this event (${bodyText(answer)}); the channel stays enabled`,
    ),
  ),
  // A workflow that was deleted or switched off answers 400 with this code; only the state tells them apart. Not
  // documented; reported by other senders. No answer of a workflow is final for one message.
  // Teams reports some failures, such as too many messages, in the body of a 200
  // (https://learn.microsoft.com/en-us/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using).
  ...only(
    'teams',
    retry(
      'teams_reported_failure',
      http((code, body) => isSuccess(code) && TEAMS_FAILURE.test(body)),
      answer => `Teams answered ${status(answer)}, but reported a failure (${bodyText(answer)})`,
    ),
    disable(
      'teams_workflow_deleted',
      http((code, body) => code === 400 && TEAMS_SWITCHED_OFF.test(body) && /['"]Deleted['"]/.test(body)),
      'The workflow of this webhook was deleted; create a new workflow in Teams and set its URL',
    ),
    retry(
      'teams_workflow_off',
      http((code, body) => code === 400 && TEAMS_SWITCHED_OFF.test(body)),
      'The workflow of this webhook is switched off; switch it on in Teams or Power Automate',
    ),
    retry(
      'receiver_refused',
      http(code => code >= 400 && code < 500 && code !== 410 && code !== 429),
      answer =>
        `The workflow answered ${status(answer)} (${bodyText(answer)}); check that it starts when a Teams webhook request is received, that anyone may trigger it, and that the URL is current`,
    ),
  ),
  // 404 is final for the webhook, and so is the code 50027 (invalid token)
  // (https://discord.com/developers/docs/topics/opcodes-and-status-codes). Discord blocks an address that makes more
  // than 10,000 requests with such answers in ten minutes (https://discord.com/developers/docs/topics/rate-limits).
  ...only(
    'discord',
    disable(
      'discord_hook_gone',
      http((code, body) => code === 404 || (code === 401 && /"code": ?50027\b/.test(body))),
      answer =>
        `Discord no longer accepts messages for this webhook (${status(answer)} ${bodyText(answer)}); create a new webhook and set its URL`,
    ),
    deadLetter(
      'discord_message_refused',
      http(code => code === 400),
      answer => `Discord rejected this message (${bodyText(answer)}); the channel stays enabled`,
    ),
    retry(
      'receiver_refused',
      http(code => code === 401 || code === 403),
      answer =>
        `Discord answered ${status(answer)} (${bodyText(answer)}); check that the URL is the one of a webhook, and that Discord does not block the address of this installation`,
    ),
  ),
  // Any HTTP receiver.
  delivered(http(isSuccess)),
  disable(
    'receiver_gone',
    http(code => code === 410),
    'The receiver answered 410 Gone, which means no more deliveries; set another URL, then enable the channel again',
  ),
  retry(
    'redirected',
    http(code => code >= 300 && code < 400),
    answer =>
      `The receiver answered ${status(answer)}, a redirect, and redirects are not followed; set the URL it redirects to`,
  ),
  retry(
    'rate_limited',
    http(code => code === 429),
    'The receiver answered 429 Too Many Requests; raise its rate limit if this continues',
  ),
  retry(
    'receiver_refused_credentials',
    http(code => code === 401 || code === 403),
    answer =>
      `The receiver answered ${status(answer)}; let it accept our requests, which X-Service-Signature authenticates when the channel has a secret`,
  ),
  retry(
    'receiver_refused',
    http(code => code >= 400 && code < 500),
    answer => `The receiver answered ${status(answer)}; check that the URL accepts these events`,
  ),
  retry(
    'receiver_failed',
    http(code => code >= 500),
    answer => `The receiver answered ${status(answer)}; read its log at the time of this attempt`,
  ),
  // Mail: a refused recipient is a fault of the channel, a refused sender is a fault of this installation.
  delivered(smtp(({ stage }) => stage === 'sent')),
  disable(
    'address_refused',
    smtp(answer => answer.stage === 'recipient' && answer.code >= 500 && !isOurFault(answer)),
    answer =>
      `The mail server refused every address permanently (${smtpText(answer)}); correct them, then enable the channel again`,
  ),
  deadLetter(
    'mail_refused',
    smtp(answer => answer.stage === 'content' && answer.code >= 500),
    answer => `The mail server refused this mail permanently (${smtpText(answer)})`,
  ),
  retry(
    'mail_server_refused_us',
    smtp(answer => answer.code >= 500 || isSessionRefusal(answer)),
    answer =>
      `The mail server refused this installation (${smtpText(answer)}); the operator has to check SMTP_URL and SMTP_FROM`,
  ),
  retry(
    'mail_deferred',
    smtp(() => true),
    answer => `The mail server deferred this mail (${smtpText(answer)})`,
  ),
  // Nothing was sent and a retry would send nothing, because all addresses are suppressed or invalid.
  deadLetter('everybody_suppressed', notSendable('everybody_suppressed'), ownMessage),
  disable('no_valid_address', notSendable('no_valid_address'), ownMessage),
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
