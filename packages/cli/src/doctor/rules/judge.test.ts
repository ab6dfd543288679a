import { readFileSync } from 'node:fs'
import { SERVICES } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { FINDING_CODES, type Finding, finding } from './finding.ts'
import { type ApiFacts, judgeApi } from './judge-api.ts'
import { judgeClocks, judgeDisk, judgeLag, judgeMissing, nameFullDisk, REFUSED } from './judge-infrastructure.ts'

const NOW = Date.parse('2026-11-21T10:00:00Z')
const connection = {
  connection_id: 'con_1',
  name: 'Cards',
  inbound_url: 'https://in.example.com/con_1',
  created_at: '2026-11-01T10:00:00Z',
  reading: { state: 'healthy', error: null },
  lastWebhookAt: '2026-11-21T09:00:00Z',
}
const health = {
  state: 'healthy' as const,
  failing_since: null,
  last_error: null,
  warning: null,
  disabled_at: null,
  disabled_reason: null,
}
const channel = { channel_id: 'chn_1', project_id: 'prj_1', name: 'Team', enabled: true, health }
const healthy: ApiFacts = {
  connections: [connection],
  channels: [channel],
  deadLetters: { kinds: [], more: false },
  secretKeys: [{ key_id: 'k1', secrets: 3, available: true }],
  processes: SERVICES.map(service => ({
    ...{ process_id: service, service, version: '1', state: 'ready', unready: null, keys: [], reported_at: '' },
  })),
}
const refused = 'The provider refuses the read key; make a new read-only key there and store it on the connection'

describe('the facts of the management API', () => {
  test('show no fault of a healthy installation, nor of a connection that was created today', () => {
    const fresh = { ...connection, created_at: '2026-11-21T09:00:00Z', lastWebhookAt: null }
    expect(judgeApi(healthy, NOW)).toEqual([])
    expect(judgeApi({ ...healthy, connections: [fresh] }, NOW)).toEqual([])
  })

  test.each<{ code: string; facts: Partial<ApiFacts>; says: RegExp; remedy: RegExp }>([
    {
      code: 'no_webhook',
      facts: { connections: [{ ...connection, lastWebhookAt: '2026-11-20T09:00:00Z' }] },
      says: /Cards \(con_1\) sent no notification for 25 hours/,
      remedy: /https:\/\/in\.example\.com\/con_1/,
    },
    {
      code: 'no_webhook',
      facts: { connections: [{ ...connection, lastWebhookAt: null }] },
      says: /never sent a notification/,
      remedy: /backstop connections show con_1/,
    },
    {
      code: 'thin_event_clients',
      facts: { connections: [{ ...connection, namesClients: false }] },
      says: /thin events of Cards \(con_1\) have not named an API key or user yet/,
      remedy: /prefix of its idempotency keys/,
    },
    {
      code: 'thin_event_clients',
      facts: { connections: [{ ...connection, namesClients: true }] },
      says: /have named the API key or user of a request/,
      remedy: /backstop actors list/,
    },
    {
      code: 'read_key_rejected',
      facts: { connections: [{ ...connection, reading: { state: 'failing', error: refused } }] },
      says: /refuses the read key/,
      remedy: /backstop connections read-key con_1/,
    },
    {
      code: 'reading_failing',
      facts: { connections: [{ ...connection, reading: { state: 'failing', error: 'No answer' } }] },
      says: /No answer/,
      remedy: /tried again/,
    },
    {
      code: 'channel_disabled',
      facts: {
        channels: [
          {
            ...channel,
            enabled: false,
            health: {
              ...health,
              ...{ state: 'disabled', disabled_at: '2026-11-20T09:00:00Z', disabled_reason: 'It answers 410' },
            },
          },
        ],
      },
      says: /Team \(chn_1\) of the project prj_1 is disabled since .*: It answers 410/,
      remedy: /channels enable chn_1/,
    },
    {
      code: 'channel_failing',
      facts: {
        channels: [
          {
            ...channel,
            health: {
              ...health,
              ...{ state: 'failing', failing_since: '2026-11-21T09:00:00Z', last_error: 'It answers 500' },
            },
          },
        ],
      },
      says: /^The channel Team \(chn_1\) .* has delivered nothing since .*: It answers 500/,
      remedy: /channels test chn_1/,
    },
    {
      code: 'dead_letters',
      facts: { deadLetters: { kinds: ['delivery', 'provider_object', 'delivery'], more: true } },
      says: /^3 or more dead letters: 2 delivery, 1 provider object/,
      remedy:
        /backstop replay dead-letter <id>.* backstop replay dismiss <id> for a message that Backstop did not write$/,
    },
    {
      code: 'wrong_secret_key',
      facts: { secretKeys: [{ key_id: 'k0', secrets: 3, available: false }] },
      says: /lacks the key "k0", which encrypts 3 stored secrets/,
      remedy: /SECRET_KEYS/,
    },
    {
      code: 'wrong_secret_key',
      facts: { secretKeys: [{ key_id: 'k0', secrets: 1, available: false }] },
      says: /which encrypts 1 stored secret$/,
      remedy: /SECRET_KEYS/,
    },
  ])('show $code: $says', ({ code, facts, says, remedy }) => {
    expect(judgeApi({ ...healthy, ...facts }, NOW)).toEqual([
      expect.objectContaining({
        code,
        what: expect.stringMatching(says),
        remedy: expect.stringMatching(remedy),
        docs: `docs/doctor.md#${code}`,
      }),
    ])
  })
})

describe('the facts of the infrastructure', () => {
  test('clocks that differ by more than two seconds beyond the error of their reading are one fault', () => {
    const clock = (host: string, aheadMs: number, errorMs = 10) => ({ host, aheadMs, errorMs })
    expect(judgeClocks([clock('MongoDB', 1_900), clock('admin-api', -2_400, 500)])).toEqual([])
    expect(judgeClocks([clock('MongoDB', 9_000), clock('admin-api', 100)])).toMatchObject([
      { code: 'clock_offset', what: 'Clocks differ from that of this machine: MongoDB is 9.0 s ahead' },
    ])
    expect(judgeClocks([clock('MongoDB', -9_000), clock('admin-api', -9_100)])).toMatchObject([
      { what: expect.stringContaining('probably this machine is wrong') },
    ])
  })

  test('a disk is reported from the limit on', () => {
    const disk = { host: 'MongoDB', usedBytes: 89, totalBytes: 100 }
    expect(judgeDisk(disk, 0.9)).toEqual([])
    expect(judgeDisk({ ...disk, usedBytes: 0, totalBytes: 0 }, 0.9)).toEqual([])
    expect(judgeDisk({ ...disk, usedBytes: 95 }, 0.9)).toMatchObject([
      { code: 'disk_full', what: expect.stringContaining('95 % full') },
    ])
  })

  test('a full disk is named as the likely cause of a part that does not answer, and is then an error', () => {
    const full = judgeDisk({ host: 'MongoDB', usedBytes: 95, totalBytes: 100 }, 0.9)
    const kafka = finding('kafka_down', 'Kafka does not answer', 'Start Kafka')
    const api = finding('api_down', 'No answer', 'Start admin-api')
    const show = (findings: Finding[]) => nameFullDisk(findings).map(found => `${found.severity} ${found.remedy}`)
    expect(show([kafka, api, ...full])).toEqual([
      'error The disk of MongoDB is 95 % full, which is the likely cause: free space on it first. Start Kafka',
      'error Start admin-api',
      expect.stringMatching(/^error Enlarge the disk/),
    ])
    expect(nameFullDisk([kafka, api])).toEqual([kafka, api])
    expect(nameFullDisk([api, ...full])).toEqual([api, ...full])
    const refused = finding('kafka_down', 'Kafka refuses the password', REFUSED)
    expect(nameFullDisk([refused, ...full])).toEqual([refused, ...full])
  })

  test('each consumer with old messages is a fault', () => {
    const lag = { groupId: 'notifier', topic: 'alerts', messages: 0n }
    expect(judgeLag([lag], 60_000)).toEqual([])
    expect(judgeLag([{ ...lag, messages: 7n }], 60_000)).toMatchObject([
      { code: 'consumer_lag', what: 'notifier has not processed 7 messages of alerts older than 60 s' },
    ])
    expect(judgeLag([{ ...lag, messages: 1n }], 60_000)).toMatchObject([
      { what: 'notifier has not processed 1 message of alerts older than 60 s' },
    ])
  })

  test('missing parts are named, the first five of them', () => {
    expect(judgeMissing('topic_missing', [])).toEqual([])
    expect(judgeMissing('topic_missing', ['a', 'b', 'c', 'd', 'e', 'f'])).toMatchObject([
      { what: 'Missing: a, b, c, d, e and 1 more' },
    ])
  })

  test('the remedy of a missing part is the deploy job by the Node.js of the clone, with the settings that it needs', () => {
    const [found] = judgeMissing('index_missing', ['a'])
    expect(found?.remedy).toContain('npx node packages/provision/src/main.ts')
    const needed = ['KAFKA_BROKERS', 'KAFKA_TOPIC_PREFIX', 'MONGO_URL', 'MONGO_DB', 'SCHEMA_REGISTRY_URL']
    expect(found?.remedy.match(/[A-Z]+(?:_[A-Z]+)+/g)).toEqual(needed)
  })
})

test('docs/doctor.md has a section about every fault', () => {
  const page = readFileSync(new URL('../../../../../docs/doctor.md', import.meta.url), 'utf8')
  expect([...page.matchAll(/^## (\w+)$/gm)].map(([, code]) => code).toSorted()).toEqual([...FINDING_CODES].toSorted())
})
