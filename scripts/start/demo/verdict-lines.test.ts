import type { Action } from '@backstop/contracts'
import { expect, test } from 'vitest'
import { describeCountdown, describeVerdict, type VerdictLine } from './verdict-lines.ts'

const NOW_MS = Date.parse('2026-11-21T10:00:00.000Z')
const action: Action = {
  action_id: 'act_1',
  project_id: 'prj_1',
  connection_id: 'con_1',
  connection_ids: ['con_1'],
  provider: 'processor',
  kind: 'refund',
  subject: 'pi_1',
  provider_ref: 're_1',
  amount: 4_999,
  currency: 'eur',
  state: 'succeeded',
  provider_created_at: '2026-11-21T10:00:00.000Z',
  first_seen_at: '2026-11-21T10:00:00.000Z',
  second_look_at: '2026-11-21T10:01:00.000Z',
  verdict: 'pending',
  reason: 'awaiting_second_look',
  operation_id: null,
  incident_id: null,
  event_ids: ['evt_1'],
  timeline: [],
  version: 1,
}

test.each<{ name: string; change: Partial<Action>; known?: Action['verdict']; line: VerdictLine | undefined }>([
  {
    name: 'an unexplained refund announces its second look',
    change: {},
    line: { word: 'unexplained', text: 'refund re_1 of EUR 49.99, at first sight: a second look follows in 60 s' },
  },
  {
    name: 'an explained refund names its operation and the reason',
    change: { verdict: 'explained', reason: 'provider_ref_matches', operation_id: 'op_1' },
    line: { word: 'explained', text: 'refund re_1 of EUR 49.99: by operation op_1 (provider_ref_matches)' },
  },
  {
    name: 'a refund from before the connection says so',
    change: { verdict: 'explained', reason: 'made_before_connection' },
    line: {
      word: 'explained',
      text: 'refund re_1 of EUR 49.99: made before the connection (made_before_connection)',
    },
  },
  {
    name: 'a second look without an explanation gives the reason',
    change: { verdict: 'unexplained', reason: 'nothing_explains_it' },
    known: 'pending',
    line: { word: 'unexplained', text: 'refund re_1 of EUR 49.99, at the second look too (nothing_explains_it)' },
  },
  {
    name: 'a provisional refund is named by its payment',
    change: { provider_ref: null, verdict: 'not_alerted', reason: 'out_of_band_ignore' },
    line: {
      word: 'not alerted',
      text: 'refund on pi_1 of EUR 49.99: unexplained, but no alert (out_of_band_ignore)',
    },
  },
  { name: 'a known verdict has no line', change: {}, known: 'pending', line: undefined },
])('$name', ({ change, known, line }) => {
  expect(describeVerdict({ ...action, ...change }, known, NOW_MS)).toEqual(line)
})

test('counts down to the next second look, and has no countdown without a pending look', () => {
  const later = { ...action, second_look_at: '2026-11-21T10:00:42.000Z' }
  expect(describeCountdown([action, later], NOW_MS)).toMatch(/second look in 42 s$/)
  expect(describeCountdown([action], NOW_MS + 61_000)).toMatch(/second look now$/)
  expect(describeCountdown([{ ...action, verdict: 'explained' }], NOW_MS)).toBeUndefined()
})
