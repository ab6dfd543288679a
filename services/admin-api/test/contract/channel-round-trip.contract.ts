import { describe, expect, test } from 'vitest'
import type { TestApi } from '../test-api.ts'
import { createTestProject } from './test-project.ts'

const KINDS: { kind: string; config: Record<string, unknown> }[] = [
  {
    kind: 'webhook',
    config: { kind: 'webhook', url: 'https://hooks.example.test/in', secret: 'shared secret', headers: { 'X-A': '1' } },
  },
  { kind: 'slack', config: { kind: 'slack', webhook_url: 'https://hooks.slack.com/services/T/B/x' } },
  { kind: 'email', config: { kind: 'email', to: ['a@b.test'] } },
  { kind: 'pagerduty', config: { kind: 'pagerduty', routing_key: 'R0123456789ABCDEF0123456789ABCDE' } },
]

/** A client may read a channel, change a few fields and send the whole document back. */
export function describeChannelRoundTrip(testApi: () => TestApi): void {
  const api = () => testApi().api
  const open = async (config: Record<string, unknown>) => {
    const { projectId } = await createTestProject(api())
    const body = { project_id: projectId, name: 'Ops', events: ['incident.opened'], config }
    const made = await api().post('/v1/alert-channels', body)
    expect(made.status).toBe(201)
    const path = `/v1/alert-channels/${made.body.channel_id}`
    return { path, read: (await api().get(path)).body }
  }

  describe('the answer of GET, sent back to an alert channel by PATCH,', () => {
    test.each(KINDS)('is accepted with a changed name for $kind', async ({ config }) => {
      const { path, read } = await open(config)
      const changed = await api().patch(path, { ...read, name: 'Night shift' })
      expect(changed.body).toEqual({
        ...read,
        name: 'Night shift',
        version: 2,
        updated_at: expect.any(String),
      })
      expect(changed.status).toBe(200)
    })

    test('keeps the secret and the headers of a webhook', async () => {
      const { path, read } = await open(KINDS[0]?.config ?? {})
      const config = { ...read.config, url: 'https://hooks.example.test/other' }
      const changed = await api().patch(path, { ...read, config })
      expect(changed).toMatchObject({ status: 200, body: { config } })
    })

    test.each([
      { field: 'config.kind', more: { config: { kind: 'email' } } },
      { field: 'config.header_names', more: { config: { header_names: ['X-B'] } } },
      { field: 'config.secret_fingerprint', more: { config: { secret_fingerprint: 'other' } } },
      { field: 'project_id', more: { project_id: 'prj_other' } },
      { field: 'channel_id', more: { channel_id: 'chn_other' } },
      { field: 'config.webhook_url_fingerprint', more: { config: { webhook_url_fingerprint: 'other' } } },
    ])('is refused if the read-only field $field differs from the stored one', async ({ field, more }) => {
      const { path } = await open(KINDS[0]?.config ?? {})
      const answer = await api().patch(path, { name: 'Night shift', ...more })
      expect(answer).toMatchObject({ status: 400, body: { errors: [{ path: `body.${field}` }] } })
    })

    test.each([{ body: { version: 1 } }, { body: { config: { kind: 'webhook' } } }])(
      'is refused if it names only read-only fields: $body',
      async ({ body }) => {
        const { path } = await open(KINDS[0]?.config ?? {})
        expect(await api().patch(path, body)).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
      },
    )
  })
}
