import { expect, test } from 'vitest'
import type { Answer } from './answer.ts'
import { classifyOutcome } from './classify-outcome.ts'
import { combineAnswers } from './combine-mail-answers.ts'

const smtp = (code: number, stage: 'sent' | 'recipient'): Answer => ({
  kind: 'smtp',
  code,
  stage,
  text: `${code} ${code >= 500 ? '5.1.1' : '4.2.2'} text`,
  refused: [],
})
const taken = { ...smtp(250, 'sent'), text: '250 ok' } as Answer
const gone = smtp(550, 'recipient')
const busy = smtp(450, 'recipient')
const silent: Answer = { kind: 'silence', reason: 'smtp_timeout', message: 'Nothing came back' }

test.each<{ name: string; answers: Answer[]; suppressed?: 'unsubscribed'[]; outcome: string; error: RegExp | null }>([
  { name: 'taken for all', answers: [taken, taken], outcome: 'delivered', error: null },
  { name: 'taken for one, refused for one', answers: [gone, taken], outcome: 'delivered', error: /refused 1 for good/ },
  {
    name: 'taken for one, silent for one',
    answers: [silent, taken],
    outcome: 'delivered',
    error: /1 could not be served/,
  },
  {
    name: 'taken for one, one suppressed',
    answers: [taken],
    suppressed: ['unsubscribed'],
    outcome: 'delivered',
    error: /1 address is suppressed \(1 unsubscribed\) and got none/,
  },
  { name: 'refused for all', answers: [gone, gone], outcome: 'disable', error: /refused every address/ },
  { name: 'gone for one, busy for one', answers: [gone, busy], outcome: 'retry', error: /put this mail off/ },
  { name: 'gone for one, silent for one', answers: [gone, silent], outcome: 'retry', error: /Nothing came back/ },
  {
    name: 'everybody suppressed',
    answers: [],
    suppressed: ['unsubscribed', 'unsubscribed'],
    outcome: 'park',
    error: /^Nobody was written to: 2 addresses are suppressed \(2 unsubscribed\)/,
  },
])('mails that are $name: $outcome', ({ answers, suppressed = [], outcome, error }) => {
  const mails = answers.map((answer, index) => ({ address: `${index}@example.com`, answer }))
  const result = classifyOutcome('email', combineAnswers(mails, suppressed), 0)
  expect(result.kind).toBe(outcome)
  if (error === null) expect(result.error).toBeNull()
  else expect(result.error).toMatch(error)
})
