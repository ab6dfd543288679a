import type { SettingDryRun } from '@backstop/contracts'
import { expect, test } from 'vitest'
import { dryRunText } from './report.ts'

const at = '2026-11-21T10:00:00.000Z'
const action = (id: string, alerted: boolean, wouldAlert: boolean): SettingDryRun['actions'][number] => ({
  action_id: id,
  kind: 'refund',
  subject: 'pi_1',
  provider_ref: `re_${id}`,
  amount: 2499,
  currency: 'EUR',
  first_seen_at: at,
  looked_at: at,
  alerted,
  would_alert: wouldAlert,
})
const answer = (actions: SettingDryRun['actions'], is_complete = true): SettingDryRun => ({
  project_id: 'prj_1',
  connection_id: 'con_1',
  from: at,
  to: '2026-11-22T10:00:00.000Z',
  out_of_band: 'ignore',
  alerted: { count: 1, sums: [{ currency: 'EUR', count: 1, amount: 2499 }] },
  would_alert: { count: 0, sums: [] },
  unexplained: actions.length,
  is_complete,
  actions,
  refunded_twice: null,
})

test('shows the counts with their money, and only the actions that the setting changes', () => {
  expect(dryRunText('Cards', answer([action('act_1', true, false), action('act_2', true, true)]))).toBe(`Cards (con_1)
Window       2026-11-21 10:00:00 UTC to 2026-11-22 10:00:00 UTC
Unexplained  2
Alerted      1 (EUR 24.99)
With ignore  0
  would not alert  act_1: refund of EUR 24.99 on pi_1 (re_act_1), first seen 2026-11-21 10:00:00 UTC
`)
})

test('shows each second refund with the one that it repeats, and both operations', () => {
  const earlier = { action_id: 'act_1', provider_ref: 're_1', operation_id: 'op_1', provider_created_at: at }
  const about = { action_id: 'act_2', subject: 'pi_1', amount: 2499, currency: 'eur', operation_id: 'op_2' }
  const refunded_twice = {
    within_hours: 24,
    would_alert: { count: 1, sums: [{ currency: 'eur', count: 1, amount: 2499 }] },
    refunds: [{ ...about, provider_created_at: at, earlier }],
  }
  const text = dryRunText('Cards', { ...answer([]), refunded_twice })
  expect(text).toContain('Refunded twice within 24 h  1 (EUR 24.99)\n')
  expect(text).toContain('  refunded twice  act_2: EUR 24.99 on pi_1 by op_2, after re_1 by op_1\n')
})

test('says that a window was counted in part, and that it shows only the first of many differences', () => {
  const many = Array.from({ length: 52 }, (_, index) => action(`act_${index}`, false, true))
  const text = dryRunText('Cards', answer(many, false))
  expect(text).toContain('Only a part of the window was counted: give a shorter one\n')
  expect(text.match(/would alert {2}act_/g)).toHaveLength(50)
  expect(text).toMatch(/… and 2 more; --json prints them\n$/)
})

test('shows invisible characters of a name by their code points', () => {
  expect(dryRunText('Ca\u202Erds', answer([]))).toContain('Ca<U+202E>rds (con_1)')
})
