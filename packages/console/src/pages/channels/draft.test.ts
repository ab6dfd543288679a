import type { AlertChannel } from '@backstop/client'
import { describe, expect, test } from 'vitest'
import { draftOf, EMPTY_DRAFT, findFaults, newChannelOf, parseHeaders, parseMinimums, patchOf } from './draft.ts'

const CHANNEL: AlertChannel = {
  channel_id: 'chn_1',
  id: 'chn_1',
  project_id: 'prj_1',
  name: 'On call',
  events: ['incident.opened'],
  config: { kind: 'email', to: ['a@example.com', 'b@example.com'] },
  shows_personal_data: false,
  filter: { connection_ids: null, kinds: ['refund'], minimum_amounts: { eur: 123_450, jpy: 8_000, kwd: 1_250 } },
  quiet_hours: { time_zone: 'Europe/Berlin', from: '22:00', to: '07:00', days: ['sat', 'sun'] },
  enabled: true,
  health: {
    state: 'unused',
    success_rate: null,
    last_success_at: null,
    last_failure_at: null,
    last_error: null,
    failing_since: null,
    held_until: null,
    held_reason: null,
    disabled_at: null,
    disabled_reason: null,
    warning: null,
  },
  version: 1,
  created_at: '2026-11-23T00:00:00.000Z',
  updated_at: '2026-11-23T00:00:00.000Z',
}

describe('the draft of a channel', () => {
  test('that nobody edited changes nothing', () => {
    expect(patchOf(draftOf(CHANNEL), CHANNEL)).toBeUndefined()
    expect(findFaults(draftOf(CHANNEL), false)).toEqual({})
  })

  test('changes only the fields that differ', () => {
    const draft = { ...draftOf(CHANNEL), to: 'c@example.com\n', minimumAmounts: 'EUR 5', quietHours: null }
    expect(patchOf(draft, CHANNEL)).toEqual({
      config: { to: ['c@example.com'] },
      filter: { connection_ids: null, kinds: ['refund'], minimum_amounts: { eur: 500 } },
      quiet_hours: null,
    })
  })

  test('creates a webhook without empty settings', () => {
    const draft = { ...EMPTY_DRAFT, name: ' Hook ', kind: 'webhook' as const, url: 'https://example.com/a' }
    expect(newChannelOf(draft, 'prj_1')).toMatchObject({
      name: 'Hook',
      config: { kind: 'webhook', url: 'https://example.com/a' },
      filter: null,
      quiet_hours: null,
    })
    expect(Object.keys(newChannelOf(draft, 'prj_1').config)).toEqual(['kind', 'url'])
  })

  test('names the fields that are missing', () => {
    expect(Object.keys(findFaults({ ...EMPTY_DRAFT, events: [] }, true))).toEqual(['name', 'events', 'webhookUrl'])
    expect(Object.keys(findFaults({ ...EMPTY_DRAFT, name: 'a' }, false))).toEqual([])
  })
})

describe('lines of text', () => {
  test('are amounts in the digits of their currency', () => {
    expect(parseMinimums('EUR 50.00\n\n jpy 8000\nKWD1.25')).toEqual({ eur: 5_000, jpy: 8_000, kwd: 1_250 })
    expect(parseMinimums('EUR')).toBeUndefined()
    expect(parseMinimums('JPY 1.5')).toBeUndefined()
  })

  test('are headers whose values may contain colons', () => {
    expect(parseHeaders('Authorization: Bearer a:b')).toEqual({ Authorization: 'Bearer a:b' })
    expect(parseHeaders('no header')).toBeUndefined()
  })
})
