import { type ChannelKind, parseRetryAfter } from '@backstop/contracts'
import { describeSuppressed } from '../describe-suppressed.ts'
import type { AttemptAnswer, MailsAnswer, MailTally, MessageAnswer } from './answer.ts'
import { RULES } from './answer-rules.ts'

/**
 * The meaning of an answer. `delivered`: the delivery is finished. `retry`: another attempt follows. `dead_letter`:
 * this message can never be delivered, but other messages can. `disable`: the receiver accepts no message any more.
 * `reason` is from a closed list, for log, metric and record. `error` tells the owner of the channel what failed and
 * what to do.
 */
export type AnswerOutcome =
  | { kind: 'delivered'; reason: 'accepted' | 'accepted_for_some'; error: string | null }
  | { kind: 'retry'; reason: string; error: string; retryAfterMs: number | null; fault: Fault }
  | { kind: 'dead_letter'; reason: string; error: string }
  | { kind: 'disable'; reason: string; error: string }

/**
 * The part that failed. `ours`: this installation; the channel's health does not change. `some_addresses`: some
 * addresses of a mail channel; others accepted the mail, so the channel works. `one_of_several`: the content of one
 * alert in a digest.
 */
export type Fault = 'receiver' | 'ours' | 'some_addresses' | 'one_of_several'

/** Decides what an answer means for the delivery and its channel. */
export function classifyAnswer(channel: ChannelKind, answer: AttemptAnswer, nowMs: number): AnswerOutcome {
  return answer.kind === 'mails' ? classifyMails(answer) : classifyMessage(channel, answer, nowMs)
}

/**
 * A mail delivery is retried while an address is pending. It is delivered if no address is pending and at least one
 * accepted the mail.
 */
function classifyMails({ decisive, tally }: MailsAnswer): AnswerOutcome {
  const outcome = classifyMessage('email', decisive, 0)
  if (tally.accepted === 0) return outcome
  if (tally.pending > 0 && outcome.kind === 'retry') {
    const fault = outcome.fault === 'receiver' ? 'some_addresses' : outcome.fault
    return { ...outcome, fault, error: `${progressText(tally)}. ${outcome.error}` }
  }
  if (tally.refused + tally.suppressed.length === 0) return { kind: 'delivered', reason: 'accepted', error: null }
  return { kind: 'delivered', reason: 'accepted_for_some', error: suppressedText(tally) }
}

const totalOf = ({ accepted, refused, pending, suppressed }: MailTally) =>
  accepted + refused + pending + suppressed.length

function progressText(tally: MailTally): string {
  const { accepted, refused, pending } = tally
  const ended = refused > 0 ? `, refused permanently for ${refused}` : ''
  return `Accepted for ${accepted} of ${totalOf(tally)} addresses${ended}, pending for ${pending}`
}

function suppressedText(tally: MailTally): string {
  const { accepted, refused, suppressed } = tally
  const texts = [
    ...(suppressed.length > 0 ? [`${describeSuppressed(suppressed)} and got none`] : []),
    ...(refused > 0 ? [`the mail server refused ${refused} permanently; remove the ones that do not exist`] : []),
  ]
  return `The mail was sent to ${accepted} of ${totalOf(tally)} addresses: ${texts.join('; ')}`
}

function classifyMessage(channel: ChannelKind, answer: MessageAnswer, nowMs: number): AnswerOutcome {
  const rule = RULES.find(({ channel: only = channel, applies }) => only === channel && applies(answer))
  if (rule === undefined) return classifyWithoutRule(answer)
  const error = rule.error(answer)
  switch (rule.outcome) {
    case 'delivered':
      return { kind: 'delivered', reason: 'accepted', error: null }
    case 'retry': {
      const retryAfterMs = answer.kind === 'http' ? parseRetryAfter(answer.retryAfter, nowMs) : null
      return retryOutcome(rule.reason, error, retryAfterMs)
    }
    case 'dead_letter':
    case 'disable':
      return { kind: rule.outcome, reason: rule.reason, error }
    default:
      return rule.outcome satisfies never
  }
}

function classifyWithoutRule(answer: MessageAnswer): AnswerOutcome {
  if (answer.kind === 'http' || answer.kind === 'smtp') {
    const code = answer.kind === 'http' ? answer.status : answer.code
    return retryOutcome('unexpected_answer', `The receiver answered ${code}`)
  }
  return retryOutcome(answer.reason, answer.message)
}

/** Reasons that are faults of this installation: its proxy, mail server, sockets or code. */
const OUR_FAULTS: ReadonlySet<string> = new Set([
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

function retryOutcome(reason: string, error: string, retryAfterMs: number | null = null): AnswerOutcome {
  return { kind: 'retry', reason, error, retryAfterMs, fault: OUR_FAULTS.has(reason) ? 'ours' : 'receiver' }
}
