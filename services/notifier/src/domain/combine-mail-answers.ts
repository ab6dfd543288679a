import type { SuppressionReason } from '@backstop/contracts'
import type { Answer } from './answer.ts'
import { describeSuppressed } from './describe-suppressed.ts'

/** What became of the mail to one address. */
export interface MailAnswer {
  readonly address: string
  readonly answer: Answer
}

/**
 * One delivery's mails as one answer. Taken for anyone, it is sent: another attempt would write to those twice. Refused for
 * everyone, it is worth what the address with the best prospects is worth, so that one that is gone for good does not
 * end the delivery to one that is busy.
 * @param suppressed why the addresses that were left out are suppressed, one entry an address
 */
export function combineAnswers(mails: readonly MailAnswer[], suppressed: readonly SuppressionReason[]): Answer {
  const left = suppressed.length === 0 ? {} : { suppressed }
  const sent = mails.map(({ answer }) => answer).find(answer => answer.kind === 'smtp' && answer.stage === 'sent')
  if (sent?.kind === 'smtp') {
    const refused = mails.filter(({ answer }) => !(answer.kind === 'smtp' && answer.stage === 'sent')).map(toRefused)
    return { ...sent, refused, ...left }
  }
  const [first] = mails
  if (first === undefined) {
    const message = `Nobody was written to: ${describeSuppressed(suppressed)}. Allow one of them again, or give the channel other addresses`
    return { kind: 'not_sendable', reason: 'everybody_suppressed', message }
  }
  const hopeful = mails.find(({ answer }) => !(answer.kind === 'smtp' && answer.code >= 500)) ?? first
  const { answer } = hopeful
  return answer.kind === 'smtp' ? { ...answer, ...left } : answer
}

function toRefused({ address, answer }: MailAnswer) {
  return { address, code: answer.kind === 'smtp' ? answer.code : 0 }
}
