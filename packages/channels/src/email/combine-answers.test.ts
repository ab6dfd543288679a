import type { EndedAddress, SuppressionReason } from '@backstop/contracts'
import { expect, test } from 'vitest'
import type { MessageAnswer } from '../answer.ts'
import { classifyOutcome } from '../classify-answer.ts'
import { combineAnswers } from './combine-answers.ts'
import { recipientTag } from './recipient-tag.ts'

const smtp = (code: number, stage: 'sent' | 'recipient' | 'content' | 'session', text: string): MessageAnswer => ({
  kind: 'smtp',
  code,
  stage,
  text: `${code} ${text}`,
})
const taken = smtp(250, 'sent', 'ok')
const gone = smtp(550, 'recipient', '5.1.1 unknown')
const spam = smtp(554, 'content', 'spam')
const busy = smtp(450, 'recipient', '4.2.2 full')
const unwelcome = smtp(535, 'session', '5.7.8 no login')
const silent: MessageAnswer = { kind: 'silence', reason: 'smtp_timeout', message: 'Nothing came back' }

interface Row {
  name: string
  answers: MessageAnswer[]
  suppressed?: SuppressionReason[]
  /** How earlier attempts ended other addresses. */
  earlier?: EndedAddress['end'][]
  /** How this attempt ended each address; '-' where it did not. */
  ends: string
  outcome: string
  /** Whose fault it is, where it is retried. */
  fault?: string
  error: RegExp | null
}

const rows: Row[] = [
  { name: 'taken for all', answers: [taken, taken], ends: 'taken taken', outcome: 'delivered', error: null },
  {
    name: 'taken for one, refused for one',
    answers: [gone, taken],
    ends: 'refused taken',
    outcome: 'delivered',
    error: /^This mail went to 1 of 2 addresses: the mail server refused 1 for good/,
  },
  {
    name: 'taken for one, silent for two',
    answers: [silent, taken, silent],
    ends: '- taken -',
    outcome: 'retry',
    fault: 'ours',
    error: /^Taken for 1 of 3 addresses, outstanding for 2\. Nothing came back$/,
  },
  {
    name: 'taken for one, gone for one, busy for one',
    answers: [taken, gone, busy],
    ends: 'taken refused -',
    outcome: 'retry',
    fault: 'some_addresses',
    error: /^Taken for 1 of 3 addresses, refused for good for 1, outstanding for 1\. .*put this mail off \(450/,
  },
  {
    name: 'taken for one, our login refused for one',
    answers: [taken, unwelcome],
    ends: 'taken -',
    outcome: 'retry',
    fault: 'ours',
    error: /refused to work for us \(535/,
  },
  {
    name: 'taken for one, one suppressed',
    answers: [taken],
    suppressed: ['unsubscribed'],
    ends: 'taken',
    outcome: 'delivered',
    error: /^This mail went to 1 of 2 addresses: 1 address is suppressed \(1 unsubscribed\) and got none$/,
  },
  {
    name: 'refused for all',
    answers: [gone, gone],
    ends: 'refused refused',
    outcome: 'disable',
    error: /every address/,
  },
  {
    name: 'refused for all as spam',
    answers: [spam, spam],
    ends: 'refused refused',
    outcome: 'park',
    error: /554 spam/,
  },
  {
    name: 'gone for one, busy for one',
    answers: [gone, busy],
    ends: 'refused -',
    outcome: 'retry',
    fault: 'receiver',
    error: /^The mail server put this mail off/,
  },
  {
    name: 'gone for one, silent for one',
    answers: [gone, silent],
    ends: 'refused -',
    outcome: 'retry',
    error: /^Nothing/,
  },
  {
    name: 'taken for the last ones',
    answers: [taken, taken],
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
    error: /^Taken for 1 of 2 addresses, outstanding for 1/,
  },
  {
    name: 'refused for good for the last one',
    answers: [gone],
    earlier: ['taken', 'taken'],
    ends: 'refused',
    outcome: 'delivered',
    error: /^This mail went to 2 of 3 addresses/,
  },
  {
    name: 'refused for good for the last one, as for all before',
    answers: [gone],
    earlier: ['refused'],
    ends: 'refused',
    outcome: 'disable',
    error: /every address/,
  },
  {
    name: 'for nobody, as the last one left meanwhile',
    answers: [],
    earlier: ['taken'],
    suppressed: ['unsubscribed'],
    ends: '',
    outcome: 'delivered',
    error: /went to 1 of 2 addresses: 1 address is suppressed/,
  },
  {
    name: 'for nobody, as everybody is suppressed',
    answers: [],
    suppressed: ['unsubscribed', 'unsubscribed'],
    ends: '',
    outcome: 'park',
    error: /^Nobody was written to: 2 addresses are suppressed \(2 unsubscribed\)/,
  },
  {
    name: 'for nobody, as only refused addresses are left in the channel',
    answers: [],
    earlier: ['refused'],
    ends: '',
    outcome: 'park',
    error: /^Nobody was written to: the mail server refused the others for good/,
  },
]

test.each(rows)(
  'mails that are $name: $outcome',
  ({ answers, suppressed = [], earlier = [], ends, outcome, ...row }) => {
    const mails = answers.map((answer, index) => ({ address: `${index}@example.com`, answer }))
    const before = earlier.map((end, index) => ({ tag: recipientTag(`before${index}@example.com`), end, attempt: 1 }))
    const combined = combineAnswers(mails, suppressed, before)
    const endOf = new Map(combined.ended.map(({ tag, end }) => [tag, end]))
    expect(mails.map(({ address }) => endOf.get(recipientTag(address)) ?? '-').join(' ')).toBe(ends)
    const result = classifyOutcome('email', combined, 0)
    expect(result.kind).toBe(outcome)
    if (row.fault !== undefined) expect(result).toMatchObject({ fault: row.fault })
    if (row.error === null) expect(result.error).toBeNull()
    else expect(result.error).toMatch(row.error)
  },
)
