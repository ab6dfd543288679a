import { expect, test } from 'vitest'
import { type Particulars, patternOf } from './pattern.ts'

const FIRST: Particulars = {
  id: 'a1',
  projectId: 'prj_1',
  connectionId: 'con_1',
  atMs: Date.parse('2026-11-26T10:00:00.000Z'),
  amount: 2_499,
  customer: 'cus_1',
  caseId: 'case_1',
  actionId: 'act_1',
  incidentId: 'inc_1',
  alertId: 'alr_1',
}
const OTHER: Particulars = {
  id: 'b22',
  projectId: 'prj_7',
  connectionId: 'con_8',
  atMs: Date.parse('2025-01-01T00:00:00.000Z'),
  amount: 1_005,
  customer: 'cus_9',
  caseId: 'case_9',
  actionId: 'act_9',
  incidentId: 'inc_9',
  alertId: 'alr_9',
}

test.each([
  { name: 'an id', stored: 'act_1', expected: 'act_9' },
  { name: 'ids inside a text', stored: 'prj_1/processor/re_a1', expected: 'prj_7/processor/re_b22' },
  { name: 'an amount', stored: [2_499, '24.99 eur'], expected: [1_005, '10.05 eur'] },
  { name: 'a date', stored: new Date('2026-11-26T10:00:02.500Z'), expected: new Date('2025-01-01T00:00:02.500Z') },
  { name: 'a time as text', stored: 'at 2026-11-26T09:59:59.000Z', expected: 'at 2024-12-31T23:59:59.000Z' },
  { name: 'a time in milliseconds', stored: FIRST.atMs + 7, expected: OTHER.atMs + 7 },
  {
    name: 'times, ids and amounts in JSON text',
    stored: JSON.stringify({ at: FIRST.atMs + 7, created: FIRST.atMs / 1_000 + 2, amount: 2_499, id: 'inc_1' }),
    expected: JSON.stringify({ at: OTHER.atMs + 7, created: OTHER.atMs / 1_000 + 2, amount: 1_005, id: 'inc_9' }),
  },
  {
    name: 'fields inside lists',
    stored: { _id: 'case_1', version: 1, current: [{ refs: ['pi_a1'], outbox: [], look: null }] },
    expected: { _id: 'case_9', version: 1, current: [{ refs: ['pi_b22'], outbox: [], look: null }] },
  },
  {
    name: 'no number and no text that is neither',
    stored: { version: 24_990, delayMs: 60_000, phone: '1234567890', rule: 'Nothing explains it' },
    expected: { version: 24_990, delayMs: 60_000, phone: '1234567890', rule: 'Nothing explains it' },
  },
])('a pattern replaces $name', ({ stored, expected }) => {
  expect(patternOf<unknown>(stored, FIRST)(OTHER)).toEqual(expected)
})
