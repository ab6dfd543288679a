import type { QuietHours } from '@backstop/contracts'
import { expect, test } from 'vitest'
import {
  type CountedConnection,
  type CountedSweep,
  listHeldChannels,
  summarizeChannels,
  summarizeConnections,
} from './summarize.ts'

const NOW = Date.parse('2026-03-01T12:00:00Z')
const minutesAgo = (minutes: number) => new Date(NOW - minutes * 60_000)

const connection = (id: string, keyMinutes: number | null = 600): CountedConnection => ({
  _id: id,
  kind: 'processor',
  status: 'active',
  read_key: keyMinutes === null ? null : { created_at: minutesAgo(keyMinutes) },
})
const sweep = (id: string, changes: Partial<CountedSweep> = {}): CountedSweep => ({
  _id: id,
  last_run_at: minutesAgo(4),
  last_error: null,
  failing_since: null,
  open_incidents: {},
  ...changes,
})
const summarize = (connections: CountedConnection[], sweeps: CountedSweep[]) => {
  const { sweepAgeMs, ...state } = summarizeConnections(connections, sweeps, {
    nowMs: NOW,
    keyRefusedText: 'refuses the read key',
  })
  return { ...state, sweepAgeMinutes: sweepAgeMs / 60_000 }
}

const refused = { last_error: 'The provider refuses the read key (401)', failing_since: minutesAgo(30) }
const healthy = { keyRejected: 0, unreadable: 0, silent: 0 }

test.each([
  { name: 'a healthy sweep', sweeps: [sweep('a')], state: { ...healthy, sweepAgeMinutes: 4 } },
  {
    name: 'a sweep that fails',
    sweeps: [sweep('a', refused)],
    state: { keyRejected: 1, unreadable: 1, sweepAgeMinutes: 30 },
  },
  {
    name: 'a sweep that fails for another reason',
    sweeps: [sweep('a', { ...refused, last_error: 'The provider cannot be reached' })],
    state: { keyRejected: 0, unreadable: 1 },
  },
  { name: 'no sweep yet', sweeps: [], state: { ...healthy, sweepAgeMinutes: 600 } },
  {
    name: 'a failure of the previous key',
    key: 2,
    sweeps: [sweep('a', refused)],
    state: { ...healthy, sweepAgeMinutes: 2 },
  },
  {
    name: 'a failure of a removed key',
    key: null,
    sweeps: [sweep('a', refused)],
    state: { ...healthy, sweepAgeMinutes: 0 },
  },
  {
    name: 'a silent feed',
    sweeps: [sweep('a', { open_incidents: { FEED_SILENT: 'inc_1' } })],
    state: { ...healthy, silent: 1 },
  },
  {
    name: 'a sweep of a deleted connection',
    sweeps: [sweep('a'), sweep('deleted', { ...refused, open_incidents: { FEED_SILENT: 'inc_1' } })],
    state: healthy,
  },
])('counts $name', ({ sweeps, key, state }) => {
  expect(summarize([connection('a', key)], sweeps)).toMatchObject(state)
})

test('counts connections by provider and status', () => {
  const waiting = { ...connection('c', null), kind: 'subscription' as const, status: 'needs_setup' as const }
  expect(summarize([connection('a'), connection('b'), waiting], []).counts).toEqual([
    { provider: 'processor', status: 'active', count: 2 },
    { provider: 'subscription', status: 'needs_setup', count: 1 },
  ])
})

test('counts channels by kind and health', () => {
  const channel = (id: string, enabled = true) => ({ _id: id, kind: 'slack' as const, enabled })
  const health = (id: string, disabled: Date | null, failing: Date | null) => ({
    _id: id,
    disabled_at: disabled,
    failing_since: failing,
  })
  const since = minutesAgo(9)
  expect(
    summarizeChannels(
      [
        channel('new'),
        channel('well'),
        channel('off', false),
        channel('failing'),
        channel('dead'),
        channel('disabled'),
      ],
      [
        health('well', null, null),
        health('off', since, since),
        health('failing', null, since),
        { ...health('dead', null, null), undelivered_since: since, failing_incident_id: 'inc_1' },
        health('disabled', since, since),
      ],
    ),
  ).toEqual([
    { kind: 'slack', state: 'ok', count: 2 },
    { kind: 'slack', state: 'off', count: 1 },
    { kind: 'slack', state: 'failing', count: 1 },
    { kind: 'slack', state: 'not_delivering', count: 1 },
    { kind: 'slack', state: 'disabled', count: 1 },
  ])
})

const HOURS: QuietHours = { time_zone: 'UTC', from: '10:00', to: '12:00', days: null }
const held = (minutesLeft: number) => ({
  since: minutesAgo(30),
  until: minutesAgo(-minutesLeft),
  reason: 'failing' as const,
})

test.each([
  { name: 'in quiet hours', atMs: NOW - 60_000, channels: [{ _id: 'a', quiet_hours: HOURS }], health: [] },
  {
    name: 'whose quiet hours ended a minute ago',
    atMs: NOW + 60_000,
    channels: [{ _id: 'a', quiet_hours: HOURS }],
    health: [],
  },
  { name: 'paused', atMs: NOW, channels: [], health: [{ _id: 'a', held: held(5) }] },
  { name: 'whose pause ended a minute ago', atMs: NOW, channels: [], health: [{ _id: 'a', held: held(-1) }] },
  { name: 'both', atMs: NOW, channels: [{ _id: 'a', quiet_hours: HOURS }], health: [{ _id: 'a', held: held(5) }] },
])('a channel $name is held', ({ atMs, channels, health }) => {
  expect(listHeldChannels(channels, health, atMs)).toEqual(['a'])
})

test.each([
  { name: 'quiet hours that ended three minutes ago', atMs: NOW + 180_000, hours: HOURS, health: [] },
  { name: 'no quiet hours', atMs: NOW, hours: null, health: [{ _id: 'a' }] },
  { name: 'a pause that ended three minutes ago', atMs: NOW, hours: null, health: [{ _id: 'a', held: held(-3) }] },
])('a channel with $name is not held', ({ atMs, hours, health }) => {
  expect(listHeldChannels([{ _id: 'a', quiet_hours: hours }], health, atMs)).toEqual([])
})
