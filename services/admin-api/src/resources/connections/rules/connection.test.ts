import type { ConnectionSecret, NewConnection, SweepDocument } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import {
  connectionDocument,
  deletedConnection,
  MAX_ACTIVE_SECRETS,
  rotateSecrets,
  showConnection,
} from './connection.ts'

const NOW = new Date('2026-11-21T10:00:00.000Z')
const hours = (count: number) => new Date(NOW.getTime() + count * 3_600_000)
const secret = (fingerprint: string, expires_at: Date | null = null): ConnectionSecret => ({
  sealed: `v1.sealed-${fingerprint}`,
  fingerprint,
  created_at: NOW,
  expires_at,
})
const made = (body: NewConnection, readKey: ConnectionSecret | null = null) =>
  connectionDocument('con_1', 'prj_1', body, { inbound: secret('f1'), readKey }, NOW)

describe('the state of a new connection', () => {
  const common = { name: 'Main', out_of_band: 'auto' } as const
  const rows: { name: string; body: NewConnection; readKey: ConnectionSecret | null; status: string }[] = [
    { name: 'a processor needs nothing more', body: { ...common, kind: 'processor' }, readKey: null, status: 'active' },
    {
      name: 'a reseller needs nothing more',
      body: { ...common, kind: 'reseller', destination_secret: 'x'.repeat(16) },
      readKey: null,
      status: 'active',
    },
    {
      name: 'a subscription with read key and site is ready',
      body: { ...common, kind: 'subscription', site: 'acme' },
      readKey: secret('r'),
      status: 'active',
    },
    {
      name: 'a subscription without a site needs setup',
      body: { ...common, kind: 'subscription' },
      readKey: secret('r'),
      status: 'needs_setup',
    },
    {
      name: 'a subscription without a read key needs setup',
      body: { ...common, kind: 'subscription', site: 'acme' },
      readKey: null,
      status: 'needs_setup',
    },
  ]
  test.each(rows)('$name', ({ body, readKey, status }) => {
    expect(made(body, readKey).status).toBe(status)
  })
})

describe('a connection as it is shown', () => {
  const document = made({ kind: 'processor', name: 'Main', out_of_band: 'alert' }, secret('r'))

  test('shows the URL for notifications, with any number of slashes at the end of the base URL', () => {
    const wanted = 'https://in.example/hooks/v1/webhooks/processor/con_1'
    expect(showConnection(document, undefined, 'https://in.example/hooks', NOW).inbound_url).toBe(wanted)
    expect(showConnection(document, undefined, 'https://in.example/hooks//', NOW).inbound_url).toBe(wanted)
  })

  test('contains no sealed secret, and fingerprints of valid secrets only', () => {
    const rotated = { ...document, inbound_secrets: [secret('new'), secret('old', hours(1)), secret('gone', NOW)] }
    const shown = showConnection(rotated, undefined, 'https://in.example', NOW)
    expect(JSON.stringify(shown)).not.toContain('sealed')
    expect(shown).toMatchObject({ secret_fingerprints: ['new', 'old'], has_read_key: true, out_of_band: 'alert' })
  })

  test('keeps no secret after its deletion', () => {
    const left = { ...document, ...deletedConnection(hours(1)) }
    expect(JSON.stringify(left)).not.toContain('sealed')
    expect(left).toMatchObject({ status: 'deleted', deleted_at: hours(1), name: 'Main' })
  })
})

describe('how the provider of a connection is read', () => {
  const readable = made({ kind: 'processor', name: 'Main', out_of_band: 'alert' }, secret('r'))
  const sweep = (more: Partial<SweepDocument>): SweepDocument => ({
    _id: 'con_1',
    project_id: 'prj_1',
    cursor: null,
    baseline_at: NOW,
    leased_until: null,
    lease_holder: null,
    woken: false,
    next_run_at: hours(3),
    last_run_at: hours(2),
    last_error: null,
    failing_since: null,
    unseen: [],
    unverified_since: null,
    open_incidents: {},
    ...more,
  })
  const refused = { last_error: 'The provider refused the key', failing_since: hours(1) }
  const nothing = { last_run_at: null, error: null, failing_since: null, next_run_at: null }
  const rows = [
    { name: 'is off without a read key', document: { ...readable, read_key: null }, known: sweep(refused), is: 'off' },
    {
      name: 'is off while its setup is not complete',
      document: { ...readable, status: 'needs_setup' as const },
      known: undefined,
      is: 'off',
    },
    { name: 'is pending before the first sweep', document: readable, known: undefined, is: 'pending' },
    {
      name: 'is pending during the first sweep',
      document: readable,
      known: sweep({ last_run_at: null }),
      is: 'pending',
    },
    {
      name: 'is pending after the key was changed, whatever became of the old one',
      document: { ...readable, read_key: { ...secret('new'), created_at: hours(3) } },
      known: sweep(refused),
      is: 'pending',
    },
  ]
  test.each(rows)('$name', ({ document, known, is }) => {
    expect(showConnection(document, known, 'https://in.example', NOW).reading).toEqual({ state: is, ...nothing })
  })

  test('is healthy after a sweep that worked', () => {
    expect(showConnection(readable, sweep({}), 'https://in.example', NOW).reading).toEqual({
      state: 'healthy',
      last_run_at: hours(2).toISOString(),
      error: null,
      failing_since: null,
      next_run_at: hours(3).toISOString(),
    })
  })

  test('is failing after a failed sweep, with the reason, the first failure and the next try', () => {
    expect(showConnection(readable, sweep(refused), 'https://in.example', NOW).reading).toEqual({
      state: 'failing',
      last_run_at: hours(2).toISOString(),
      error: 'The provider refused the key',
      failing_since: hours(1).toISOString(),
      next_run_at: hours(3).toISOString(),
    })
  })
})

describe('rotating a secret', () => {
  const DAY_MS = 86_400_000
  const rotate = (secrets: ConnectionSecret[], overlapMs = DAY_MS) => {
    const outcome = rotateSecrets(secrets, secret('new'), overlapMs, NOW)
    if (outcome.kind === 'refused') return outcome.reason
    return outcome.secrets.map(({ fingerprint, expires_at }) => [fingerprint, expires_at?.toISOString() ?? null])
  }
  const tomorrow = hours(24).toISOString()

  const rows = [
    {
      name: 'the old one stays good for the overlap',
      before: [secret('old')],
      wanted: [
        ['new', null],
        ['old', tomorrow],
      ],
    },
    {
      name: 'an end that comes sooner stays',
      before: [secret('old', hours(1))],
      wanted: [
        ['new', null],
        ['old', hours(1).toISOString()],
      ],
    },
    {
      name: 'an end that comes later is brought forward',
      before: [secret('old', hours(100))],
      wanted: [
        ['new', null],
        ['old', tomorrow],
      ],
    },
    { name: 'what has expired is dropped', before: [secret('old', NOW)], wanted: [['new', null]] },
    {
      name: 'without an overlap the old one ends at once',
      before: [secret('old')],
      overlapMs: 0,
      wanted: [['new', null]],
    },
    { name: 'the same secret again is refused', before: [secret('new')], wanted: 'secret_in_use' },
    {
      name: 'more than can be checked at once is refused',
      before: Array.from({ length: MAX_ACTIVE_SECRETS }, (_, i) => secret(`s${i}`)),
      wanted: 'too_many_active',
    },
    {
      name: 'without an overlap there is always room',
      before: Array.from({ length: MAX_ACTIVE_SECRETS }, (_, i) => secret(`s${i}`)),
      overlapMs: 0,
      wanted: [['new', null]],
    },
  ]
  test.each(rows)('$name', ({ before, overlapMs, wanted }) => {
    expect(rotate(before, overlapMs)).toEqual(wanted)
  })
})
