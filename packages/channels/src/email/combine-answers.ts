import type { EndedAddress, SuppressionReason } from '@backstop/contracts'
import type { MailsAnswer, MessageAnswer } from '../answer/answer.ts'
import { classifyAnswer } from '../answer/classify-answer.ts'
import { describeSuppressed } from '../describe-suppressed.ts'
import { recipientTag } from './recipient-tag.ts'

/** The answer to the mail to one address. */
export interface MailAnswer {
  readonly address: string
  readonly answer: MessageAnswer
}

/**
 * Combines the answers to the mails of one attempt. An address is finished when the server has accepted its mail or refused
 * it permanently. After any other answer, and if the server did not reply to the content, the next attempt sends the mail
 * to the address again, with the same Message-ID.
 * @param suppressed the reasons of the suppressed addresses, one entry for each
 * @param earlier the addresses that ended in earlier attempts
 */
export function combineAnswers(
  mails: readonly MailAnswer[],
  suppressed: readonly SuppressionReason[],
  earlier: readonly EndedAddress[],
): MailsAnswer {
  const judged = mails.map(({ address, answer }) => ({ tag: recipientTag(address), answer, end: addressEndOf(answer) }))
  const ended = judged.flatMap(({ tag, end }) => (end === null ? [] : [{ tag, end }]))
  const count = (end: EndedAddress['end']) => [...earlier, ...ended].filter(one => one.end === end).length
  const pending = judged.filter(one => one.end === null)
  const tally = { accepted: count('taken'), refused: count('refused'), pending: pending.length, suppressed }
  const decisive = pending[0] ?? judged.find(one => one.end === 'taken') ?? judged[0]
  return { kind: 'mails', decisive: decisive?.answer ?? noRecipientAnswer(suppressed), ended, tally }
}

/** Returns null if the mail must be retried, even after a permanent refusal that this installation caused. */
function addressEndOf(answer: MessageAnswer): EndedAddress['end'] | null {
  const { kind } = classifyAnswer('email', answer, 0)
  if (kind === 'retry') return null
  return kind === 'delivered' ? 'taken' : 'refused'
}

function noRecipientAnswer(suppressed: readonly SuppressionReason[]): MessageAnswer {
  const why = suppressed.length > 0 ? describeSuppressed(suppressed) : 'the mail server refused them permanently'
  const message = `No mail was sent: ${why}. Remove a suppression, or set other addresses`
  return { kind: 'not_sendable', reason: 'everybody_suppressed', message }
}
