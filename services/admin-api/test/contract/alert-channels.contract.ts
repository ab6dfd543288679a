import { describe, expect, test } from 'vitest'
import type { TestApi } from '../test-api.ts'
import { createTestProject } from './test-project.ts'

export function describeAlertChannels(testApi: () => TestApi): void {
  const api = () => testApi().api
  const channel = (projectId: string, config: unknown, events: unknown = ['incident.opened']) => ({
    project_id: projectId,
    name: 'Ops',
    events,
    config,
  })
  const webhook = { kind: 'webhook', url: 'https://hooks.example.test/in' }
  const unsigned = {
    ...webhook,
    secret_fingerprint: null,
    previous_secret_expires_at: null,
    header_names: [],
    template: null,
  }

  describe('alert channels', () => {
    const kinds = [
      {
        kind: 'slack',
        config: { kind: 'slack', webhook_url: 'https://hooks.slack.com/services/T0/B0/canary' },
        shown: { kind: 'slack', webhook_url_fingerprint: expect.stringMatching(/^[0-9a-f]{8}$/) },
      },
      {
        kind: 'discord',
        config: { kind: 'discord', webhook_url: 'https://discord.com/api/webhooks/129/canary' },
        shown: { kind: 'discord', webhook_url_fingerprint: expect.stringMatching(/^[0-9a-f]{8}$/) },
      },
      {
        kind: 'teams',
        config: {
          kind: 'teams',
          webhook_url:
            'https://prod-1.westeurope.logic.azure.com:443/workflows/a1/triggers/manual/paths/invoke?sig=canary',
        },
        shown: { kind: 'teams', webhook_url_fingerprint: expect.stringMatching(/^[0-9a-f]{8}$/) },
      },
      {
        kind: 'pagerduty',
        config: { kind: 'pagerduty', routing_key: 'canary0ofrouting0key000000000000' },
        shown: {
          kind: 'pagerduty',
          events_url: 'https://events.pagerduty.com/v2/enqueue',
          routing_key_fingerprint: expect.stringMatching(/^[0-9a-f]{8}$/),
        },
      },
      { kind: 'email', config: { kind: 'email', to: ['a@b.test'] }, shown: { kind: 'email', to: ['a@b.test'] } },
      {
        kind: 'webhook with a secret',
        config: { ...webhook, secret: 'canary' },
        shown: { ...unsigned, secret_fingerprint: expect.stringMatching(/^[0-9a-f]{8}$/) },
      },
      {
        kind: 'webhook with headers',
        config: { ...webhook, headers: { 'X-Route': 'canary', Authorization: 'Bearer canary' } },
        shown: { ...unsigned, header_names: ['Authorization', 'X-Route'] },
      },
      {
        kind: 'webhook with a template',
        config: { ...webhook, template: '{"text": "{{incident.summary}}"}' },
        shown: { ...unsigned, template: '{"text": "{{incident.summary}}"}' },
      },
      { kind: 'webhook without a secret', config: webhook, shown: unsigned },
    ]
    test.each(kinds)('$kind is made, shown without its secret, listed and deleted', async ({ config, shown }) => {
      const { projectId } = await createTestProject(api())
      const made = await api().post('/v1/alert-channels', channel(projectId, config, ['incident.opened', 'run.failed']))
      expect(made).toMatchObject({
        status: 201,
        body: {
          channel_id: expect.stringMatching(/^chn_/),
          project_id: projectId,
          name: 'Ops',
          events: ['incident.opened', 'run.failed'],
          config: shown,
          shows_personal_data: false,
          filter: null,
          quiet_hours: null,
          enabled: true,
          health: { state: 'unused', success_rate: null, last_error: null, disabled_reason: null },
          version: 1,
        },
      })
      expect(made.headers.get('etag')).toBe('"1"')
      expect(JSON.stringify(made.body)).not.toContain('canary')
      expect((await api().get(`/v1/alert-channels/${made.body.channel_id}`)).body).toEqual(made.body)
      const list = await api().get(`/v1/alert-channels?project_id=${projectId}`)
      expect(list.body).toEqual({ data: [made.body], next_cursor: null })
      const deleted = await api().delete(`/v1/alert-channels/${made.body.channel_id}`)
      expect([deleted.status, deleted.body]).toEqual([204, undefined])
      expect((await api().get(`/v1/alert-channels/${made.body.channel_id}`)).status).toBe(404)
      expect((await api().delete(`/v1/alert-channels/${made.body.channel_id}`)).status).toBe(404)
      expect((await api().post(`/v1/alert-channels/${made.body.channel_id}/test`)).status).toBe(404)
      expect((await api().get(`/v1/alert-channels?project_id=${projectId}`)).body.data).toEqual([])
    })

    test('every answer has the id of the channel as channel_id and as id', async () => {
      const { projectId } = await createTestProject(api())
      const made = await api().post('/v1/alert-channels', channel(projectId, webhook, ['run.failed']))
      const { channel_id } = made.body
      expect(channel_id).toMatch(/^chn_/)
      const path = `/v1/alert-channels/${channel_id}`
      const list = await api().get(`/v1/alert-channels?project_id=${projectId}`)
      const bodies = [
        made.body,
        list.body.data[0],
        (await api().get(path)).body,
        (await api().patch(path, { name: 'Renamed' })).body,
        (await api().post(`${path}/rotate-secret`, {})).body,
      ]
      expect(bodies.map(body => [body.channel_id, body.id])).toEqual(bodies.map(() => [channel_id, channel_id]))
    })

    test('a new one may have a filter, which names connections of its own project only', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const made = { ...channel(projectId, webhook), filter: { connection_ids: [processorId] } }
      expect(await api().post('/v1/alert-channels', made)).toMatchObject({
        status: 201,
        body: { filter: { connection_ids: [processorId], kinds: null, minimum_amounts: null } },
      })
      const foreign = (await createTestProject(api(), 'Other shop')).processorId
      const refused = await api().post('/v1/alert-channels', { ...made, filter: { connection_ids: [foreign] } })
      expect(refused).toMatchObject({
        status: 400,
        body: { code: 'invalid_request', errors: [{ path: 'body.filter.connection_ids.0' }] },
      })
    })

    test('one whose filter names only deleted connections warns that it gets no alerts about a connection', async () => {
      const { projectId, processorId } = await createTestProject(api())
      const made = { ...channel(projectId, webhook), filter: { connection_ids: [processorId] } }
      const { channel_id } = (await api().post('/v1/alert-channels', made)).body
      const path = `/v1/alert-channels/${channel_id}`
      expect((await api().get(path)).body.health.warning).toBeNull()
      await api().delete(`/v1/projects/${projectId}/connections/${processorId}`)
      const warning = expect.stringContaining('Change or remove its filter')
      expect((await api().get(path)).body.health).toMatchObject({ warning })
      expect((await api().get(`/v1/alert-channels?project_id=${projectId}`)).body.data[0].health).toMatchObject({
        warning,
      })
      expect((await api().patch(path, { name: 'Renamed' })).body.health).toMatchObject({ warning })
      expect((await api().post(`${path}/rotate-secret`, {})).body.health).toMatchObject({ warning })
      expect((await api().patch(path, { filter: null })).body.health).toMatchObject({ warning: null })
    })

    test('every alert event of the interface may be chosen, and the later alerts about an incident', async () => {
      const { projectId } = await createTestProject(api())
      const events = [
        'run.failed',
        'incident.opened',
        'drift.detected',
        'cap.threshold',
        'approval.requested',
        'approval.reminder',
        'approval.expired',
        'incident.resolved',
        'incident.acknowledged',
      ]
      const made = await api().post('/v1/alert-channels', channel(projectId, webhook, events))
      expect(made.body.events).toEqual(events)
    })

    const refused = [
      { name: 'no event', config: webhook, events: [], path: 'body.events' },
      { name: 'an unknown event', config: webhook, events: ['incident.closed'], path: 'body.events.0' },
      { name: 'an event twice', config: webhook, events: ['run.failed', 'run.failed'], path: 'body.events' },
      { name: 'the event of the test button', config: webhook, events: ['channel.test'], path: 'body.events.0' },
      { name: 'an unknown kind', config: { kind: 'pager' }, path: 'body.config.kind' },
      { name: 'no config', config: undefined, path: 'body.config' },
      { name: 'no url', config: { kind: 'webhook' }, path: 'body.config.url' },
      { name: 'an empty secret', config: { ...webhook, secret: '' }, path: 'body.config.secret' },
      {
        name: 'whsec_ without base64',
        config: { ...webhook, secret: 'whsec_my-own-words' },
        path: 'body.config.secret',
      },
      { name: 'an unknown field', config: { ...webhook, method: 'GET' }, path: 'body.config.method' },
      { name: 'a header of ours', config: { ...webhook, headers: { Host: 'x' } }, path: 'body.config.headers' },
      { name: 'a header cut in two', config: { ...webhook, headers: { A: 'b\r\nC: d' } }, path: 'body.config.headers' },
      { name: 'a template without JSON', config: { ...webhook, template: '{{summary}' }, path: 'body.config.template' },
      {
        name: 'a long template',
        config: { ...webhook, template: `"${'x'.repeat(16_384)}"` },
        path: 'body.config.template',
      },
      {
        name: 'an address that is none',
        config: { kind: 'email', to: ['a@b.test', 'nobody'] },
        path: 'body.config.to.1',
      },
      {
        name: 'an address with a line break',
        config: { kind: 'email', to: ['a@b.test\nBcc: c@d.test'] },
        path: 'body.config.to.0',
      },
      { name: 'no address', config: { kind: 'email', to: [] }, path: 'body.config.to' },
    ]
    test.each(refused)('$name is refused by name', async ({ config, events, path }) => {
      const { projectId } = await createTestProject(api())
      const answer = await api().post('/v1/alert-channels', channel(projectId, config, events))
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
      expect(answer.body.errors.map((error: { path: string }) => error.path)).toContain(path)
    })

    test('a template with a field of no alert is refused, and the answer names the field', async () => {
      const { projectId } = await createTestProject(api())
      const config = { ...webhook, template: '{"text": "{{incident.sumary}}"}' }
      const answer = await api().post('/v1/alert-channels', channel(projectId, config))
      expect(answer.status).toBe(400)
      expect(JSON.stringify(answer.body.errors)).toContain('No alert has a field for {{incident.sumary}}')
    })

    test.each([
      { kind: 'webhook', url: 'https://blocked.test/x' },
      { kind: 'slack', webhook_url: 'https://blocked.test/x' },
    ])('a URL that may not be reached is refused: $kind', async config => {
      const { projectId } = await createTestProject(api())
      const answer = await api().post('/v1/alert-channels', channel(projectId, config))
      expect(answer).toMatchObject({ status: 400, body: { code: 'egress_blocked' } })
    })

    test.each([
      { name: 'another host', webhook_url: 'https://hooks.example.test/services/T0/B0/x' },
      { name: 'a host that begins like the one of Slack', webhook_url: 'https://hooks.slack.com.example.test/x' },
      { name: 'another host of Slack', webhook_url: 'https://api.slack.com/x' },
      { name: 'another port', webhook_url: 'https://hooks.slack.com:8443/services/T0/B0/x' },
    ])('a Slack channel is refused that names $name', async ({ webhook_url }) => {
      const { projectId } = await createTestProject(api())
      const refusal = { status: 400, body: { code: 'invalid_request', errors: [{ path: 'body.config.webhook_url' }] } }
      const slack = (url: string) => channel(projectId, { kind: 'slack', webhook_url: url })
      expect(await api().post('/v1/alert-channels', slack(webhook_url))).toMatchObject(refusal)
      const made = await api().post('/v1/alert-channels', slack('https://hooks.slack-gov.com/services/T0/B0/x'))
      expect(made.status).toBe(201)
      const change = { config: { webhook_url } }
      expect(await api().patch(`/v1/alert-channels/${made.body.channel_id}`, change)).toMatchObject(refusal)
    })

    test.each([
      { kind: 'teams', name: 'another host', webhook_url: 'https://hooks.example.test/workflows/a1?sig=x' },
      { kind: 'teams', name: 'a host that ends like one of Teams', webhook_url: 'https://evil-logic.azure.com/x' },
      { kind: 'teams', name: 'an address of the retired connectors', webhook_url: 'https://a.webhook.office.com/x' },
      { kind: 'discord', name: 'another host', webhook_url: 'https://hooks.example.test/api/webhooks/129/x' },
      {
        kind: 'discord',
        name: 'a host below one of Discord',
        webhook_url: 'https://evil.discord.com/api/webhooks/1/x',
      },
    ])('a $kind channel is refused that names $name', async ({ kind, webhook_url }) => {
      const { projectId } = await createTestProject(api())
      const refusal = { status: 400, body: { code: 'invalid_request', errors: [{ path: 'body.config.webhook_url' }] } }
      expect(await api().post('/v1/alert-channels', channel(projectId, { kind, webhook_url }))).toMatchObject(refusal)
    })

    test.each([
      { name: 'another host', config: { events_url: 'https://events.example.test/v2/enqueue' }, path: 'events_url' },
      { name: 'http', config: { events_url: 'http://events.pagerduty.com/v2/enqueue' }, path: 'events_url' },
      { name: 'a key of another API', config: { routing_key: 'e+23rschqsESqk9Q6_-g' }, path: 'routing_key' },
    ])('a PagerDuty channel is refused with $name', async ({ config, path }) => {
      const { projectId } = await createTestProject(api())
      const pager = { kind: 'pagerduty', routing_key: '0123456789abcdef0123456789abcdef', ...config }
      const answer = await api().post('/v1/alert-channels', channel(projectId, pager))
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
      expect(JSON.stringify(answer.body.errors)).toContain(path)
    })

    test('a project that does not exist is refused', async () => {
      const answer = await api().post('/v1/alert-channels', channel('prj_none', webhook))
      expect(answer).toMatchObject({ status: 404, body: { code: 'not_found', detail: 'There is no project prj_none' } })
    })
  })

  describe('the test of an alert channel', () => {
    const open = async () => {
      const { projectId } = await createTestProject(api())
      const made = await api().post('/v1/alert-channels', channel(projectId, webhook))
      return {
        projectId,
        id: made.body.channel_id as string,
        test: () => api().post(`/v1/alert-channels/${made.body.channel_id}/test`),
      }
    }

    test('sends one delivery, marked as a test, and answers its outcome', async () => {
      const { projectId, id, test } = await open()
      testApi().setReceiverAnswer({})
      expect(await test()).toMatchObject({ status: 200, body: { delivered: true, status: 200, latency_ms: 12 } })
      expect(testApi().requested(id)).toMatchObject([
        {
          channel_id: id,
          project_id: projectId,
          test: true,
          event: 'channel.test',
          alert: { event: 'channel.test', data: { channel_id: id, text: 'This is a test of the alert channel "Ops"' } },
          attempts: [{ attempt: 1 }],
        },
      ])
    })

    test("is answered 200 with the receiver's answer if the receiver refuses", async () => {
      const { test } = await open()
      testApi().setReceiverAnswer({ outcome: 'failed', status: 500, error: 'The receiver answered 500' })
      expect((await test()).body).toEqual({
        delivered: false,
        status: 500,
        latency_ms: 12,
        error: 'The receiver answered 500',
        response: 'ok',
      })
      testApi().setReceiverAnswer({ outcome: 'failed', status: null, error: 'No answer within 20 s' })
      expect(await test()).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
      testApi().advanceClock(10_000)
      expect((await test()).body).toMatchObject({ delivered: false, status: null, error: 'No answer within 20 s' })
      testApi().setReceiverAnswer({})
    })

    test('says that there was no result if no notifier delivers', async () => {
      const { test } = await open()
      testApi().setReceiverAnswer(undefined)
      const answer = await test()
      expect(answer).toMatchObject({ status: 200, body: { delivered: false, status: null, latency_ms: null } })
      expect(answer.body.error).toMatch(/No result within .* s; check that the notifier is running/)
      testApi().setReceiverAnswer({})
    })

    test('accepts an empty object as a body, and nothing else', async () => {
      const { id } = await open()
      expect((await api().post(`/v1/alert-channels/${id}/test`, {})).status).toBe(200)
      expect((await api().post(`/v1/alert-channels/${id}/test`, { now: true })).status).toBe(400)
    })
  })
}
