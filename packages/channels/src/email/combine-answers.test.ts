import type { EndedAddress, SuppressionReason } from '@backstop/contracts'
import { expect, test } from 'vitest'
import type { MessageAnswer } from '../answer/answer.ts'
import { classifyAnswer } from '../answer/classify-answer.ts'
import { combineAnswers } from './combine-answers.ts'
import { recipientTag } from './recipient-tag.ts'

const smtp = (code: number, stage: 'sent' | 'recipient' | 'content' | 'session', text: string): MessageAnswer => ({
  kind: 'smtp',
  code,
  stage,
  text: `${code} ${text}`,
})
const accepted = smtp(250, 'sent', 'ok')
const refused = smtp(550, 'recipient', '5.1.1 unknown')
const spam = smtp(554, 'content', 'spam')
const busy = smtp(450, 'recipient', '4.2.2 full')
const unwelcome = smtp(535, 'session', '5.7.8 no login')
const unanswered: MessageAnswer = { kind: 'no_answer', reason: 'smtp_timeout', message: 'Nothing came back' }

interface Row {
  name: string
  answers: MessageAnswer[]
  suppressed?: SuppressionReason[]
  /** The end of each address in earlier attempts. */
  earlier?: EndedAddress['end'][]
  /** The end of each address in this attempt; '-' if the address must be retried. */
  ends: string
  outcome: string
  /** The expected fault of a retry. */
  fault?: string
  error: RegExp | null
}

const rows: Row[] = [
  { name: 'accepted for all', answers: [accepted, accepted], ends: 'taken taken', outcome: 'delivered', error: null },
  {
    name: 'accepted for one, refused for one',
    answers: [refused, accepted],
    ends: 'refused taken',
    outcome: 'delivered',
    error: /^The mail was sent to 1 of 2 addresses: the mail server refused 1 permanently/,
  },
  {
    name: 'accepted for one, unanswered for two',
    answers: [unanswered, accepted, unanswered],
    ends: '- taken -',
    outcome: 'retry',
    fault: 'ours',
    error: /^Accepted for 1 of 3 addresses, pending for 2\. Nothing came back$/,
  },
  {
    name: 'accepted for one, no such user for one, busy for one',
    answers: [accepted, refused, busy],
    ends: 'taken refused -',
    outcome: 'retry',
    fault: 'some_addresses',
    error: /^Accepted for 1 of 3 addresses, refused permanently for 1, pending for 1\. .*deferred this mail \(450/,
  },
  {
    name: 'accepted for one, our login refused for one',
    answers: [accepted, unwelcome],
    ends: 'taken -',
    outcome: 'retry',
    fault: 'ours',
    error: /refused this installation \(535/,
  },
  {
    name: 'accepted for one, one suppressed',
    answers: [accepted],
    suppressed: ['unsubscribed'],
    ends: 'taken',
    outcome: 'delivered',
    error: /^The mail was sent to 1 of 2 addresses: 1 address is suppressed \(1 unsubscribed\) and got none$/,
  },
  {
    name: 'refused for all',
    answers: [refused, refused],
    ends: 'refused refused',
    outcome: 'disable',
    error: /every address/,
  },
  {
    name: 'refused for all as spam',
    answers: [spam, spam],
    ends: 'refused refused',
    outcome: 'dead_letter',
    error: /554 spam/,
  },
  {
    name: 'no such user for one, busy for one',
    answers: [refused, busy],
    ends: 'refused -',
    outcome: 'retry',
    fault: 'receiver',
    error: /^The mail server deferred this mail/,
  },
  {
    name: 'no such user for one, unanswered for one',
    answers: [refused, unanswered],
    ends: 'refused -',
    outcome: 'retry',
    error: /^Nothing/,
  },
  {
    name: 'accepted for the last ones',
    answers: [accepted, accepted],
    earlier: ['taken'],
    ends: 'taken taken',
    outcome: 'delivered',
    error: null,
  },
  {
    name: 'busy for the last one',
    answers: [busy],
    earlier: ['taken'],
    ends: '-',
    outcome: 'retry',
    fault: 'some_addresses',
    error: /^Accepted for 1 of 2 addresses, pending for 1/,
  },
  {
    name: 'refused permanently for the last one',
    answers: [refused],
    earlier: ['taken', 'taken'],
    ends: 'refused',
    outcome: 'delivered',
    error: /^The mail was sent to 2 of 3 addresses/,
  },
  {
    name: 'refused permanently for the last one, like all before',
    answers: [refused],
    earlier: ['refused'],
    ends: 'refused',
    outcome: 'disable',
    error: /every address/,
  },
  {
    name: 'for nobody, because the last one unsubscribed meanwhile',
    answers: [],
    earlier: ['taken'],
    suppressed: ['unsubscribed'],
    ends: '',
    outcome: 'delivered',
    error: /was sent to 1 of 2 addresses: 1 address is suppressed/,
  },
  {
    name: 'for nobody, because all are suppressed',
    answers: [],
    suppressed: ['unsubscribed', 'unsubscribed'],
    ends: '',
    outcome: 'dead_letter',
    error: /^No mail was sent: 2 addresses are suppressed \(2 unsubscribed\)/,
  },
  {
    name: 'for nobody, because only refused addresses remain',
    answers: [],
    earlier: ['refused'],
    ends: '',
    outcome: 'dead_letter',
    error: /^No mail was sent: the mail server refused them permanently/,
  },
]

test.each(rows)('mails $name: $outcome', ({ answers, suppressed = [], earlier = [], ends, outcome, ...row }) => {
  const mails = answers.map((answer, index) => ({ address: `${index}@example.com`, answer }))
  const before = earlier.map((end, index) => ({ tag: recipientTag(`before${index}@example.com`), end, attempt: 1 }))
  const combined = combineAnswers(mails, suppressed, before)
  const endOf = new Map(combined.ended.map(({ tag, end }) => [tag, end]))
  expect(mails.map(({ address }) => endOf.get(recipientTag(address)) ?? '-').join(' ')).toBe(ends)
  const result = classifyAnswer('email', combined, 0)
  expect(result.kind).toBe(outcome)
  if (row.fault !== undefined) expect(result).toMatchObject({ fault: row.fault })
  if (row.error === null) expect(result.error).toBeNull()
  else expect(result.error).toMatch(row.error)
})
