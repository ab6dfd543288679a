import type { DryRunSummary, VerdictDifference } from '@backstop/contracts'
import { expect, test } from 'vitest'
import type { DryRunOptions } from './options.ts'
import { differenceText, summaryText } from './report.ts'

const difference: VerdictDifference = {
  action_id: 'act_1',
  project_id: 'prj_1',
  connection_ids: ['con_1'],
  provider: 'processor',
  kind: 'refund',
  subject: 'pi_1',
  provider_ref: 're_1',
  amount: 2499,
  currency: 'eur',
  first_seen_at: '2026-11-21T10:00:03.412Z',
  basis: 'events',
  stored: {
    verdict: 'explained',
    reason: 'amount_and_time_match',
    operation_id: 'op_1',
    alerted: true,
    rule: 'Op op_1 agrees',
  },
  now: null,
}

test('a difference has the action, its stored verdict and its new one', () => {
  expect(differenceText(difference)).toBe(`act_1: refund of EUR 24.99 on pi_1 (re_1), first seen 2026-11-21 10:00:03 UTC
  stored  explained (amount_and_time_match): Op op_1 agrees; it was alerted before
  now     not seen`)
})

const wish = { from: Date.parse('2026-11-20T10:00:00Z'), to: Date.parse('2026-11-21T10:00:00Z') } as DryRunOptions

const summary: DryRunSummary = {
  actions: { compared: 12, same: 11, different: 1, undecided: 1, by_basis: { events: 8, reading: 3, expired: 1 } },
  alerted: { stored: 4, now: 3 },
  failed: { count: 1, first: { id: 'case_9', error: 'TypeError: no sides' } },
  changes: [{ from: 'unexplained (nothing_explains_it)', to: 'explained (provider_ref_matches)', count: 1 }],
  events: { in_window: 40, still_ignored: 9, not_replayed: { body_gone: 2, hint_held: 0, hint_now: 0, refused: 1 } },
}

test('the summary has the compared actions and their sources, the alerts, the changes, and the events that were not replayed', () => {
  const text = summaryText(summary, wish)
  for (const says of [
    '12 actions compared, from 2026-11-20 10:00:00 UTC to 2026-11-21 10:00:00 UTC: 11 the same, 1 different',
    '3  based on reads from the provider, which are not stored',
    '1  based on events whose bodies are past their retention',
    '1  more are left out: their second look is pending',
    '4 then, 3 now',
    'The rules fail on 1 payments or subscriptions, first on case_9:\nTypeError: no sides',
    'unexplained (nothing_explains_it) → explained (provider_ref_matches)',
    'Not replayed, of 40 events',
    "1  are malformed by today's rules",
  ]) {
    expect(text).toContain(says)
  }
  expect(text).not.toContain('hints of connections')
})

test('the summary omits empty sections', () => {
  const none = { body_gone: 0, hint_held: 0, hint_now: 0, refused: 0 }
  const quiet = {
    ...summary,
    failed: { count: 0, first: null },
    changes: [],
    events: { ...summary.events, not_replayed: none },
  }
  expect(summaryText(quiet, wish)).not.toMatch(/Changes|Not replayed|rules fail/)
})
