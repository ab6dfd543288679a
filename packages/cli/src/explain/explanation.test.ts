import type { Action } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { action as known } from '../../test/api-stand-in.ts'
import { explanationOf } from './explanation.ts'

const action = (more: Partial<Action> = {}): Action => ({
  ...known,
  action_id: 'act_1',
  why: {
    rule: 'Nothing explains it',
    candidates: [
      { operation_id: 'op_1', failure: 'other_amount', text: 'It is about EUR 10.00, and this is about EUR 24.99' },
    ],
    read_back: 'confirmed',
  },
  timeline: [
    {
      at: '2026-11-21T10:00:03.412Z',
      what: 'event_received',
      id: 'evt_1',
      text: 'The provider reported refund.created',
    },
    { at: '2026-11-21T10:01:03.900Z', what: 'incident_opened', id: 'inc_1', text: 'Incident inc_1 opened' },
  ],
  ...more,
})

test('an explanation has the action, the verdict, the rule, the other operations, the answer of the provider, and the timeline', () => {
  expect(explanationOf(action(), 'act_1')).toBe(`act_1: refund of EUR 24.99 on pi_1 (re_1)
  at the processor provider, seen through con_1; succeeded
  made 2026-11-21 10:00:00 UTC, first seen 2026-11-21 10:00:03 UTC

Verdict    unexplained (nothing_explains_it)
Rule       Nothing explains it
Incident   inc_1
Provider   asked at the second look, and has it

Operations that do not explain it
  op_1  It is about EUR 10.00, and this is about EUR 24.99 (other_amount)

Timeline
  2026-11-21 10:00:03 UTC  The provider reported refund.created [evt_1]
  2026-11-21 10:01:03 UTC  Incident inc_1 opened
`)
})

const why = (more: Partial<NonNullable<Action['why']>>) => ({
  why: { rule: 'R', candidates: [], read_back: null, ...more },
})

describe('an explanation', () => {
  test.each<{ name: string; of: Partial<Action>; says: RegExp }>([
    {
      name: 'of a cancellation',
      of: { kind: 'cancellation', subject: 'sub_1', provider_ref: 'sub_1', amount: null },
      says: /^act_1: cancellation on sub_1\n/,
    },
    {
      name: 'of a cancellation that was taken back',
      of: { kind: 'cancellation', subject: 'sub_1', amount: null, state: 'canceled', subscription_continues: true },
      says: /; set and taken back; the subscription continues\n/,
    },
    {
      name: 'of a cancellation in whose place another one came',
      of: { kind: 'cancellation', subject: 'sub_1', amount: null, state: 'canceled', subscription_continues: false },
      says: /; set and did not take effect; another cancellation followed\n/,
    },
    {
      name: 'of the release of an authorization',
      of: { state: 'canceled', authorization_released: true },
      says: /^act_1: release of an authorization of EUR 24\.99 on pi_1 .*\n.*; released, no money moved\n/,
    },
    {
      name: 'of an action on a connected account',
      of: { account: 'acct_1' },
      says: /\n {2}on the connected account acct_1\n/,
    },
    { name: 'of a provisional refund', of: { provider_ref: null }, says: /known only from the total of its charge/ },
    {
      name: 'of one that is not alerted',
      of: { verdict: 'not_alerted', reason: 'out_of_band_ignore' },
      says: /Verdict {4}not alerted \(out_of_band_ignore\)/,
    },
    { name: 'of one that is explained', of: { verdict: 'explained', operation_id: 'op_7' }, says: /Operation {2}op_7/ },
    {
      name: 'of one that waits',
      of: { verdict: 'pending', ...why({}) },
      says: /Next look {2}2026-11-21 10:01:03 UTC[\s\S]*not asked yet/,
    },
    { name: 'of one without a read key', of: why({}), says: /no connection that shows it had a read key/ },
    {
      name: 'of one that was explained at first sight',
      of: { verdict: 'explained', second_look_at: null, ...why({}) },
      says: /needed no second look/,
    },
    { name: 'of one that the provider does not know', of: why({ read_back: 'not_found' }), says: /does not have it/ },
    {
      name: 'of one whose provider did not answer in time',
      of: why({ read_back: 'unavailable' }),
      says: /Provider {3}could not be read at the second look: the connection says why/,
    },
    {
      name: 'of one on a connected account that the read key may not read',
      of: { account: 'acct_1', ...why({ read_back: 'unavailable' }) },
      says: /Provider {3}could not be read at the second look: let the read key read its connected accounts\n/,
    },
    { name: 'of one that no operation names', of: why({}), says: /No operation names this payment or subscription/ },
    {
      name: 'of one that no other operation names',
      of: { operation_id: 'op_7', ...why({}) },
      says: /No other operation names/,
    },
    {
      name: 'of one that differs from its operation',
      of: { differences: [{ field: 'amount', operation_says: 'EUR 5.00', provider_says: 'EUR 24.99' }] },
      says: /amount: the operation says EUR 5.00, the provider EUR 24.99/,
    },
    {
      name: 'of one that is older than recorded rules',
      of: { why: undefined } as never,
      says: /before rules were recorded/,
    },
  ])('$name', ({ of, says }) => {
    expect(explanationOf(action(of), 'act_1')).toMatch(says)
  })

  test('of a merged action names the action that it was merged into', () => {
    expect(explanationOf(action(), 'act_0')).toMatch(/^act_0 was merged into act_1/)
  })
})

test('an id that would overwrite its line in a terminal is shown with code points', () => {
  expect(explanationOf(action({ subject: 'Söhne\u202e & Co' }), 'act_1')).toContain('on Söhne<U+202E> & Co (re_1)')
})
