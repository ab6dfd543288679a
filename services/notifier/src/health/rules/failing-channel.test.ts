import { expect, test } from 'vitest'
import { judgeFailing, NOT_DELIVERING_MS } from './failing-channel.ts'

const NOW = Date.parse('2026-11-21T10:00:00.000Z')
const since = (ms: number) => new Date(NOW - ms)
const works = { enabled: true, deleted: false }
const healthy = {
  disabled_at: null,
  undelivered_since: null,
  failing_incident_id: null,
  last_success_at: since(9_000_000),
  last_failure_at: null,
  last_error: null,
}
const failing = {
  ...healthy,
  undelivered_since: since(NOT_DELIVERING_MS),
  last_failure_at: since(60_000),
  last_error: 'It answers 500',
}
const unreached = { since: since(1), reason: '1 address is suppressed (1 unsubscribed)' }
const known = { failing_incident_id: 'inc_1' }

test('a channel that has delivered nothing for 15 minutes gets an incident that says since when and why', () => {
  expect(judgeFailing(failing, works, NOW)).toEqual({
    kind: 'open',
    reason: 'nothing_delivered',
    text: 'No alert has arrived there since 2026-11-21T09:45:00.000Z. The newest failure: It answers 500',
  })
})

test('a channel that reaches nobody gets an incident at once', () => {
  const verdict = judgeFailing({ ...healthy, unreached }, works, NOW)
  expect(verdict).toMatchObject({ kind: 'open', reason: 'reaches_nobody' })
  expect(verdict).toMatchObject({ text: expect.stringContaining(unreached.reason) })
})

test.each([
  { name: 'works', health: healthy, channel: works, verdict: 'goes_on works' },
  {
    name: 'fails for less',
    health: { ...failing, undelivered_since: since(899_999) },
    channel: works,
    verdict: 'goes_on not_for_long',
  },
  { name: 'has its incident', health: { ...failing, ...known }, channel: works, verdict: 'goes_on known' },
  {
    name: 'is switched off',
    health: failing,
    channel: { ...works, enabled: false },
    verdict: 'goes_on gets_no_alerts',
  },
  {
    name: 'is disabled',
    health: { ...failing, disabled_at: since(1) },
    channel: works,
    verdict: 'goes_on gets_no_alerts',
  },
  { name: 'does not exist', health: failing, channel: undefined, verdict: 'goes_on gets_no_alerts' },
  { name: 'delivers again', health: { ...healthy, ...known }, channel: works, verdict: 'resolve recovered' },
  {
    name: 'was repaired without an alert since',
    health: { ...healthy, ...known, last_failure_at: since(1) },
    channel: works,
    verdict: 'resolve cleared',
  },
  {
    name: 'was disabled meanwhile',
    health: { ...failing, ...known, disabled_at: since(1) },
    channel: works,
    verdict: 'resolve disabled',
  },
  {
    name: 'was switched off meanwhile',
    health: { ...failing, ...known },
    channel: { ...works, enabled: false },
    verdict: 'resolve switched_off',
  },
  {
    name: 'was deleted meanwhile',
    health: { ...failing, ...known },
    channel: { ...works, deleted: true },
    verdict: 'resolve deleted',
  },
])('a channel that $name: $verdict', ({ health, channel, verdict }) => {
  const { kind, reason } = judgeFailing(health, channel, NOW)
  expect(`${kind} ${reason}`).toBe(verdict)
})
