import type { ChannelConfig, ChannelConfigPatch, ChannelDocument } from '@backstop/channels'
import type { ChannelHealthDocument } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { deletedChannel, judgeConfigPatch, showChannel } from './alert-channel.ts'

const NOW = new Date('2026-11-21T10:00:00.000Z')
const after = (hours: number) => new Date(NOW.getTime() + hours * 3_600_000)
const channel = (config: ChannelConfig): ChannelDocument => ({
  _id: 'chn_1',
  project_id: 'prj_1',
  name: 'Ops',
  events: ['incident.opened'],
  config,
  enabled: true,
  version: 3,
  created_at: NOW,
  updated_at: NOW,
  deleted_at: null,
})
const slack: ChannelConfig = { kind: 'slack', webhook_url: 'v1.sealed', fingerprint: 'f1' }
const email: ChannelConfig = { kind: 'email', to: ['a@b.test'] }
const webhook = { kind: 'webhook', url: 'https://a.test', secret: null, fingerprint: null } as const
const signed: ChannelConfig = {
  ...webhook,
  secret: 'v1.sealed',
  fingerprint: 'f2',
  previous_secret: { sealed: 'v1.sealed', fingerprint: 'f1', expires_at: after(1) },
  headers: { 'X-Route': 'v1.sealed', Authorization: 'v1.sealed' },
}
const shownWebhook = {
  kind: 'webhook',
  url: 'https://a.test',
  secret_fingerprint: null,
  previous_secret_expires_at: null,
  header_names: [],
  template: null,
}
const configs: { kind: string; config: ChannelConfig; shown: unknown }[] = [
  { kind: 'slack', config: slack, shown: { kind: 'slack', webhook_url_fingerprint: 'f1' } },
  { kind: 'email', config: email, shown: { kind: 'email', to: ['a@b.test'] } },
  {
    kind: 'webhook with two secrets and headers',
    config: signed,
    shown: {
      ...shownWebhook,
      secret_fingerprint: 'f2',
      previous_secret_expires_at: '2026-11-21T11:00:00.000Z',
      header_names: ['Authorization', 'X-Route'],
    },
  },
  { kind: 'webhook without a secret', config: webhook, shown: shownWebhook },
]

describe('an alert channel as it is shown', () => {
  test.each(configs)('$kind holds no secret', ({ config, shown }) => {
    expect(showChannel(channel(config), undefined, NOW).config).toEqual(shown)
  })

  test('does not show a secret whose overlap is over', () => {
    expect(showChannel(channel(signed), undefined, after(1)).config).toMatchObject({ previous_secret_expires_at: null })
  })

  test.each(configs)('$kind keeps no secret and no target after its deletion', ({ config }) => {
    const left = JSON.stringify(deletedChannel(channel(config), NOW))
    expect(left).not.toContain('v1.sealed')
    expect(left).not.toContain('a@b.test')
    expect(left).not.toContain('https://')
    expect(left).toContain('"enabled":false')
  })
})

describe('the health of a channel', () => {
  const health: ChannelHealthDocument = {
    _id: 'chn_1',
    project_id: 'prj_1',
    disabled_at: null,
    disabled_reason: null,
    last_success_at: after(-1),
    last_failure_at: null,
    last_error: null,
    failing_since: null,
    days: { '2026-11-21': { delivered: 2, failed: 1 } },
  }
  const rows: { name: string; health: ChannelHealthDocument | undefined; enabled: boolean; shown: unknown }[] = [
    { name: 'nothing was ever sent', health: undefined, enabled: true, shown: { state: 'unused', success_rate: null } },
    {
      name: 'it was enabled before anything was sent',
      health: { ...health, last_success_at: null, days: {} },
      enabled: true,
      shown: { state: 'unused', success_rate: null },
    },
    {
      name: 'it works',
      health,
      enabled: true,
      shown: { state: 'healthy', success_rate: 0.6667, last_success_at: '2026-11-21T09:00:00.000Z' },
    },
    {
      name: 'it does nothing but fail',
      health: { ...health, failing_since: after(-2), last_failure_at: NOW, last_error: 'The receiver answered 500' },
      enabled: true,
      shown: { state: 'failing', last_error: 'The receiver answered 500', failing_since: '2026-11-21T08:00:00.000Z' },
    },
    {
      name: 'its secret cannot be opened',
      health: { ...health, undelivered_since: after(-2), last_failure_at: NOW, last_error: 'The key is gone' },
      enabled: true,
      shown: { state: 'failing', failing_since: '2026-11-21T08:00:00.000Z', last_error: 'The key is gone' },
    },
    {
      name: 'all of its addresses unsubscribed',
      health: { ...health, unreached: { since: after(-2), reason: '1 address is suppressed (1 unsubscribed)' } },
      enabled: true,
      shown: {
        state: 'failing',
        failing_since: '2026-11-21T08:00:00.000Z',
        warning:
          'No address gets mail: 1 address is suppressed (1 unsubscribed). Remove a suppression, or set other addresses',
      },
    },
    {
      name: 'it is paused',
      health: { ...health, failing_since: after(-2), held: { since: after(-2), until: after(1), reason: 'throttled' } },
      enabled: true,
      shown: {
        state: 'failing',
        held_until: '2026-11-21T11:00:00.000Z',
        held_reason: 'The receiver asked for a pause, or reported overload',
      },
    },
    {
      name: 'its pause is over',
      health: { ...health, failing_since: after(-2), held: { since: after(-2), until: NOW, reason: 'failing' } },
      enabled: true,
      shown: { state: 'failing', held_until: null, held_reason: null },
    },
    {
      name: 'its failures disabled it',
      health: { ...health, failing_since: after(-2), disabled_at: NOW, disabled_reason: 'The receiver answered 410' },
      enabled: false,
      shown: { state: 'disabled', disabled_at: NOW.toISOString(), disabled_reason: 'The receiver answered 410' },
    },
    {
      name: 'only days that are over a week old are known',
      health: { ...health, days: { '2026-11-14': { delivered: 0, failed: 9 } } },
      enabled: true,
      shown: { success_rate: null },
    },
    {
      name: 'the oldest day of the week is known',
      health: { ...health, days: { '2026-11-15': { delivered: 1, failed: 3 } } },
      enabled: true,
      shown: { success_rate: 0.25 },
    },
  ]
  test.each(rows)('when $name', ({ health: given, enabled, shown }) => {
    expect(showChannel(channel(webhook), given, NOW)).toMatchObject({ enabled, health: shown })
  })

  test('reports no failures of a channel that a person switched off', () => {
    const off = { ...channel(webhook), enabled: false }
    expect(showChannel(off, health, NOW)).toMatchObject({ enabled: false, health: { state: 'healthy' } })
  })
})

describe('a change of the config', () => {
  const another = 'https://b.test/in'
  const rows: { name: string; config: ChannelConfig; patch: ChannelConfigPatch; verdict: unknown }[] = [
    { name: 'the URL of a Slack channel', config: slack, patch: { webhook_url: another }, verdict: { kind: 'fits' } },
    { name: 'the addresses of a mail channel', config: email, patch: { to: ['x@y.test'] }, verdict: { kind: 'fits' } },
    {
      name: 'addresses for a webhook',
      config: signed,
      patch: { to: ['x@y.test'] },
      verdict: { kind: 'refused', reason: 'of_another_kind', field: 'to' },
    },
    {
      name: 'headers for a Slack channel',
      config: slack,
      patch: { webhook_url: another, headers: {} },
      verdict: { kind: 'refused', reason: 'of_another_kind', field: 'headers' },
    },
    {
      name: 'another host for a webhook without headers',
      config: webhook,
      patch: { url: another },
      verdict: { kind: 'fits' },
    },
    {
      name: 'another path for a webhook with headers',
      config: signed,
      patch: { url: 'https://a.test/other' },
      verdict: { kind: 'fits' },
    },
    {
      name: 'another host for a webhook with headers',
      config: signed,
      patch: { url: another },
      verdict: { kind: 'refused', reason: 'headers_to_another_host', field: 'headers' },
    },
    {
      name: 'another port for a webhook with headers',
      config: signed,
      patch: { url: 'https://a.test:8443' },
      verdict: { kind: 'refused', reason: 'headers_to_another_host', field: 'headers' },
    },
    {
      name: 'another host and the headers anew',
      config: signed,
      patch: { url: another, headers: {} },
      verdict: { kind: 'fits' },
    },
  ]
  test.each(rows)('$name', ({ config, patch, verdict }) => {
    expect(judgeConfigPatch(config, patch)).toEqual(verdict)
  })
})
