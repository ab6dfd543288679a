import type { ChannelHealthDocument } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { disableChannel, enableChannel, judgeHealth, summariseReports } from './channel-health.ts'

const NOW = Date.parse('2026-11-21T10:00:00.000Z')
const DAY = 86_400_000
const OF = { channelId: 'chn_1', projectId: 'prj_1', name: 'Ops' }

function health(facts: Partial<ChannelHealthDocument> = {}): ChannelHealthDocument {
  return {
    _id: 'chn_1',
    project_id: 'prj_1',
    disabled_at: null,
    disabled_reason: null,
    disabled_incident_id: null,
    last_success_at: null,
    last_failure_at: new Date(NOW),
    last_error: 'The receiver answered 500',
    failing_since: new Date(NOW - 5 * DAY),
    days: {
      '2026-11-16': { delivered: 3, failed: 1 },
      '2026-11-17': { delivered: 0, failed: 4 },
      '2026-11-21': { delivered: 0, failed: 1 },
    },
    ...facts,
  }
}

test('a fault of the notifier is shown and does not count as a failure of the channel', () => {
  const change = summariseReports([
    { kind: 'held_up', atMs: NOW, error: 'The egress proxy could not connect' },
    { kind: 'failed', atMs: NOW + 1, error: 'The receiver answered 500' },
    { kind: 'held_up', atMs: NOW + 2, error: 'The egress proxy could not connect' },
  ])
  expect(change).toMatchObject({
    lastFailureAtMs: NOW + 2,
    lastError: 'The egress proxy could not connect',
    failingSinceMs: NOW + 1,
    days: { '2026-11-21': { delivered: 0, failed: 1 } },
  })
  expect(summariseReports([{ kind: 'held_up', atMs: NOW, error: 'x' }])).toMatchObject({
    failingSinceMs: null,
    days: {},
  })
})

describe('a channel', () => {
  test.each([
    { name: 'that fails for five days', facts: {}, reason: 'failing_for_five_days' },
    {
      name: 'that fails for a little less',
      facts: { failing_since: new Date(NOW - 5 * DAY + 1) },
      reason: 'not_failing_for_long',
    },
    { name: 'that works', facts: { failing_since: null }, reason: 'not_failing' },
    { name: 'of an older release', facts: { failing_since: undefined }, reason: 'not_failing' },
    { name: 'that is disabled', facts: { disabled_at: new Date(NOW) }, reason: 'disabled_before' },
    {
      name: 'that failed a month ago, then was not needed, and fails now',
      facts: { failing_since: new Date(NOW - 30 * DAY), days: { '2026-11-21': { delivered: 0, failed: 1 } } },
      reason: 'too_few_days_of_attempts',
    },
    {
      name: 'that fails anew after it was forgiven, on fewer days since',
      facts: {
        failing_since: new Date(NOW - 5 * DAY),
        days: {
          '2026-11-15': { delivered: 0, failed: 9 },
          '2026-11-16': { delivered: 0, failed: 1 },
          '2026-11-21': { delivered: 0, failed: 1 },
        },
      },
      reason: 'too_few_days_of_attempts',
    },
  ])('$name: $reason', ({ facts, reason }) => {
    const verdict = judgeHealth(health(facts as Partial<ChannelHealthDocument>), NOW)
    expect(verdict.reason).toBe(reason)
    expect(verdict.kind).toBe(reason === 'failing_for_five_days' ? 'disable' : 'goes_on')
  })

  test('is disabled with the last error in the reason', () => {
    expect(judgeHealth(health(), NOW)).toMatchObject({
      text: 'Nothing arrived there for five days. The last failure: The receiver answered 500',
    })
  })

  test('is disabled by one command if several processes decide it', () => {
    const order = disableChannel(OF, 'Gone', NOW)
    expect(order).toEqual(disableChannel(OF, 'Gone', NOW))
    expect(order.incidentId).not.toBe(disableChannel(OF, 'Gone', NOW + 1).incidentId)
    expect(order.entry).toMatchObject({
      topic: 'commands',
      key: 'chn_1',
      message: { kind: 'open_channel_incident', channel_name: 'Ops', reason: 'Gone', incident_id: order.incidentId },
    })
  })

  test.each([
    { name: 'was never used', known: undefined, kind: 'keep', resolves: false },
    { name: 'fails, but is not disabled', known: health(), kind: 'enable', resolves: false },
    {
      name: 'is disabled',
      known: health({ disabled_at: new Date(NOW - 1), disabled_incident_id: 'inc_1' }),
      kind: 'enable',
      resolves: true,
    },
    {
      name: 'was disabled after somebody asked for it',
      known: health({ disabled_at: new Date(NOW + 1), disabled_incident_id: 'inc_1' }),
      kind: 'keep',
      resolves: false,
    },
  ])('that $name is asked to work again: $kind', ({ known, kind, resolves }) => {
    const decision = enableChannel(known, 'prj_1', NOW)
    expect(decision.kind).toBe(kind)
    expect(decision.kind === 'enable' && decision.entry !== null).toBe(resolves)
  })

  test('is not changed by a request of another project', () => {
    expect(enableChannel(health(), 'prj_2', NOW)).toEqual({ kind: 'keep', reason: 'of_another_project' })
  })
})
