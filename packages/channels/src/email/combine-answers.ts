import type { EndedAddress, SuppressionReason } from '@backstop/contracts'
import type { MailsAnswer, MessageAnswer } from '../answer.ts'
import { classifyOutcome } from '../classify-answer.ts'
import { describeSuppressed } from '../describe-suppressed.ts'
import { recipientTag } from './recipient-tag.ts'

/** What became of the mail to one address. */
export interface MailAnswer {
  readonly address: string
  readonly answer: MessageAnswer
}

/**
 * One attempt's mails as one answer. Each address ends for itself: once its mail was taken, or refused for good. Whatever
 * else became of it, silence after the content included, leaves it open; its next mail has the same Message-ID.
 * @param suppressed why the addresses that were left out are suppressed, one entry an address
 * @param earlier the addresses that earlier attempts ended
 */
export function combineAnswers(
  mails: readonly MailAnswer[],
  suppressed: readonly SuppressionReason[],
  earlier: readonly EndedAddress[],
): MailsAnswer {
  const judged = mails.map(({ address, answer }) => ({ tag: recipientTag(address), answer, end: endOf(answer) }))
  const ended = judged.flatMap(({ tag, end }) => (end === 'open' ? [] : [{ tag, end }]))
  const count = (end: EndedAddress['end']) => [...earlier, ...ended].filter(one => one.end === end).length
  const open = judged.filter(one => one.end === 'open')
  const tally = { taken: count('taken'), refused: count('refused'), open: open.length, suppressed }
  const decisive = open[0] ?? judged.find(one => one.end === 'taken') ?? judged[0]
  return { kind: 'mails', said: decisive?.answer ?? nobodyLeft(suppressed), ended, tally }
}

/** A 5xx that is about this installation ends no address: it is retried once the operator has mended that. */
function endOf(answer: MessageAnswer): EndedAddress['end'] | 'open' {
  const { kind } = classifyOutcome('email', answer, 0)
  if (kind === 'retry') return 'open'
  return kind === 'delivered' ? 'taken' : 'refused'
}

function nobodyLeft(suppressed: readonly SuppressionReason[]): MessageAnswer {
  const why = suppressed.length > 0 ? describeSuppressed(suppressed) : 'the mail server refused the others for good'
  const message = `Nobody was written to: ${why}. Allow one of them again, or give the channel other addresses`
  return { kind: 'not_sendable', reason: 'everybody_suppressed', message }
}
