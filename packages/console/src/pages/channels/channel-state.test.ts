import type { AlertChannel } from '@backstop/client'
import { expect, test } from 'vitest'
import { failedShare, stateOf } from './channel-state.ts'

const HEALTHY: AlertChannel['health'] = {
  ...{ state: 'healthy', success_rate: 1, last_success_at: '2026-11-23T12:00:00Z', last_failure_at: null },
  ...{ last_error: null, failing_since: null, held_until: null, held_reason: null },
  ...{ disabled_at: null, disabled_reason: null, warning: null },
}

test.each([
  ['Works', {}],
  ['Works', { success_rate: 0.95 }],
  ['Unreliable', { success_rate: 0.5 }],
  ['Failing', { state: 'failing' as const, success_rate: 0 }],
  ['Paused', { held_until: '2026-11-23T12:05:00Z', success_rate: 0.5 }],
  ['Gets few alerts', { warning: 'Nobody confirmed' }],
  ['Not used yet', { state: 'unused' as const, success_rate: null }],
  ['Disabled', { state: 'disabled' as const }],
])('a channel is said to be “%s”', (word, health) => {
  expect(stateOf({ enabled: true, health: { ...HEALTHY, ...health } }).word).toBe(word)
})

test('a share of failures is never rounded to none', () => {
  expect([0.5, 0.899, 0.9999].map(failedShare)).toEqual([
    '50 % of the attempts of 7 days failed',
    '10 % of the attempts of 7 days failed',
    '1 % of the attempts of 7 days failed',
  ])
})
