import type { ChannelConfig, ChannelDocument, ChannelHealthDocument } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { deletedChannel, showChannel } from './alert-channel.ts'

const NOW = new Date('2026-11-21T10:00:00.000Z')
const channel = (config: ChannelConfig): ChannelDocument => ({
  _id: 'chn_1',
  project_id: 'prj_1',
  name: 'Ops',
  events: ['incident.opened'],
  config,
  enabled: true,
  created_at: NOW,
  updated_at: NOW,
  deleted_at: null,
})
const configs: { kind: string; config: ChannelConfig; shown: unknown }[] = [
  {
    kind: 'slack',
    config: { kind: 'slack', webhook_url: 'v1.sealed', fingerprint: 'f1' },
    shown: { kind: 'slack', webhook_url_fingerprint: 'f1' },
  },
  { kind: 'email', config: { kind: 'email', to: ['a@b.test'] }, shown: { kind: 'email', to: ['a@b.test'] } },
  {
    kind: 'webhook with a secret',
    config: { kind: 'webhook', url: 'https://a.test', secret: 'v1.sealed', fingerprint: 'f1' },
    shown: { kind: 'webhook', url: 'https://a.test', secret_fingerprint: 'f1' },
  },
  {
    kind: 'webhook without a secret',
    config: { kind: 'webhook', url: 'https://a.test', secret: null, fingerprint: null },
    shown: { kind: 'webhook', url: 'https://a.test', secret_fingerprint: null },
  },
]

describe('an alert channel as it is shown', () => {
  test.each(configs)('$kind holds no secret', ({ config, shown }) => {
    expect(showChannel(channel(config), undefined).config).toEqual(shown)
  })

  const health: ChannelHealthDocument = {
    _id: 'chn_1',
    project_id: 'prj_1',
    disabled_at: NOW,
    disabled_reason: 'The receiver answered 410 Gone',
    last_success_at: null,
    last_failure_at: NOW,
    last_error: 'HTTP 410',
  }
  test('is not enabled once its health has disabled it, and says why', () => {
    const { config } = configs[1] as (typeof configs)[number]
    expect(showChannel(channel(config), health)).toMatchObject({
      enabled: false,
      disabled_reason: 'The receiver answered 410 Gone',
    })
    expect(showChannel(channel(config), { ...health, disabled_at: null, disabled_reason: null })).toMatchObject({
      enabled: true,
      disabled_reason: null,
    })
  })

  test.each(configs)('$kind keeps nothing to send with once it is deleted', ({ config }) => {
    const left = JSON.stringify(deletedChannel(channel(config), NOW))
    expect(left).not.toContain('v1.sealed')
    expect(left).not.toContain('a@b.test')
    expect(left).not.toContain('https://')
    expect(left).toContain('"enabled":false')
  })
})
