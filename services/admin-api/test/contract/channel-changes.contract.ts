import type { ChannelDocument } from '@backstop/channels'
import type { ChannelHealthDocument } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { secretBoxOfTests, type TestApi } from '../test-api.ts'
import { createTestProject, loseAnswer } from './test-project.ts'

type WebhookConfig = Extract<ChannelDocument['config'], { kind: 'webhook' }>

const HOUR_MS = 3_600_000
const URL_OF_TESTS = 'https://hooks.example.test/in'

export function describeChannelChanges(testApi: () => TestApi): void {
  const api = () => testApi().api
  const open = async (config: Record<string, unknown>) => {
    const { projectId } = await createTestProject(api())
    const body = { project_id: projectId, name: 'Ops', events: ['incident.opened'], config }
    const id: string = (await api().post('/v1/alert-channels', body)).body.channel_id
    const path = `/v1/alert-channels/${id}`
    return {
      id,
      projectId,
      get: () => api().get(path),
      patch: (change: unknown, headers?: Record<string, string>) => api().patch(path, change, headers),
      rotate: (change: unknown, headers?: Record<string, string>) =>
        api().post(`${path}/rotate-secret`, change, headers),
      stored: async () => (await testApi().stores.channels.find({ _id: id })) as ChannelDocument,
    }
  }
  const webhook = (more: Record<string, unknown> = {}) => open({ kind: 'webhook', url: URL_OF_TESTS, ...more })

  describe('a change of an alert channel', () => {
    test('changes the given fields only, and honours If-Match', async () => {
      const { get, patch } = await webhook({ secret: 'shared secret', headers: { 'X-A': '1' } })
      const before = await get()
      const changed = await patch({ name: 'Night shift', events: ['run.failed'] }, { 'if-match': '"1"' })
      expect(changed.status).toBe(200)
      expect(changed.headers.get('etag')).toBe('"2"')
      const { updated_at } = changed.body
      const next = { name: 'Night shift', events: ['run.failed'], version: 2, updated_at }
      expect(changed.body).toEqual({ ...before.body, ...next })
      expect((await get()).body).toEqual(changed.body)
      expect((await get()).headers.get('etag')).toBe('"2"')
      const late = await patch({ name: 'Day shift' }, { 'if-match': '"1"' })
      expect(late).toMatchObject({ status: 412, body: { code: 'precondition_failed' } })
      expect((await get()).body.name).toBe('Night shift')
    })

    test('allows and forbids personal data, also for a channel that allowed it when it was created', async () => {
      const { patch, get, projectId } = await webhook()
      expect((await patch({ shows_personal_data: true })).body).toMatchObject({ shows_personal_data: true })
      expect((await patch({ name: 'Night shift' })).body).toMatchObject({ shows_personal_data: true })
      expect((await patch({ shows_personal_data: false })).body).toMatchObject({ shows_personal_data: false })
      expect((await get()).body).toMatchObject({ shows_personal_data: false })
      const config = { kind: 'email', to: ['a@b.test'] }
      const body = { project_id: projectId, name: 'Ops', events: ['run.failed'], config, shows_personal_data: true }
      expect(await api().post('/v1/alert-channels', body)).toMatchObject({
        status: 201,
        body: { shows_personal_data: true },
      })
    })

    test('sets, keeps, replaces and removes its filter', async () => {
      const { patch, get, projectId } = await webhook()
      const connection = { kind: 'processor', name: 'Cards' }
      const { connection_id } = (await api().post(`/v1/projects/${projectId}/connections`, connection)).body
      const filter = { connection_ids: [connection_id], kinds: ['refund'], minimum_amounts: { eur: 5000 } }
      expect((await patch({ filter })).body).toMatchObject({ filter })
      expect((await patch({ name: 'Night shift' })).body).toMatchObject({ filter })
      const replaced = { connection_ids: null, kinds: ['cancellation'], minimum_amounts: null }
      expect((await patch({ filter: { kinds: ['cancellation'] } })).body.filter).toEqual(replaced)
      expect((await get()).body.filter).toEqual(replaced)
      expect((await patch({ filter: null })).body).toMatchObject({ filter: null })
    })

    test('sets, keeps, replaces and removes its quiet hours', async () => {
      const { patch, get } = await open({ kind: 'email', to: ['a@b.test'] })
      const quiet_hours = { time_zone: 'Europe/Berlin', from: '22:00', to: '07:00', days: ['fri', 'sat'] }
      expect((await patch({ quiet_hours })).body).toMatchObject({ quiet_hours })
      expect((await patch({ name: 'Night shift' })).body).toMatchObject({ quiet_hours })
      const replaced = { time_zone: 'Asia/Tokyo', from: '20:00', to: '08:00', days: null }
      expect((await patch({ quiet_hours: { time_zone: 'Asia/Tokyo', from: '20:00', to: '08:00' } })).status).toBe(200)
      expect((await get()).body.quiet_hours).toEqual(replaced)
      expect((await patch({ quiet_hours: null })).body).toMatchObject({ quiet_hours: null })
    })

    test('to quiet hours is refused for a kind without digests, with the reason', async () => {
      const { patch, projectId } = await webhook()
      const quiet_hours = { time_zone: 'Europe/Berlin', from: '22:00', to: '07:00' }
      const message = expect.stringMatching(/^Only slack and email have quiet hours/)
      const refusal = { status: 400, body: { errors: [{ path: 'body.quiet_hours', message }] } }
      expect(await patch({ quiet_hours })).toMatchObject(refusal)
      const config = { kind: 'webhook', url: URL_OF_TESTS }
      const body = { project_id: projectId, name: 'Ops', events: ['run.failed'], config, quiet_hours }
      expect(await api().post('/v1/alert-channels', body)).toMatchObject(refusal)
    })

    test('switches it off and on without a command to the notifier', async () => {
      const { id, patch } = await webhook()
      expect((await patch({ enabled: false })).body).toMatchObject({ enabled: false, health: { state: 'unused' } })
      expect((await patch({ enabled: true })).body).toMatchObject({ enabled: true })
      expect(testApi().commands.filter(command => 'channel_id' in command && command.channel_id === id)).toEqual([])
    })

    test.each([
      {
        kind: 'pagerduty',
        config: { kind: 'pagerduty', routing_key: '0123456789abcdef0123456789abcdef' },
        change: { routing_key: 'fedcba9876543210fedcba9876543210' },
        shown: {
          kind: 'pagerduty',
          events_url: 'https://events.pagerduty.com/v2/enqueue',
          routing_key_fingerprint: expect.stringMatching(/^[0-9a-f]{8}$/),
        },
      },
      {
        kind: 'discord',
        config: { kind: 'discord', webhook_url: 'https://discord.com/api/webhooks/129/one' },
        change: { webhook_url: 'https://discord.com/api/webhooks/129/two?thread_id=130' },
        shown: { kind: 'discord', webhook_url_fingerprint: expect.stringMatching(/^[0-9a-f]{8}$/) },
      },
      {
        kind: 'teams',
        config: { kind: 'teams', webhook_url: 'https://prod-1.westeurope.logic.azure.com/workflows/a1?sig=x' },
        change: {
          webhook_url: 'https://default1.a1.environment.api.powerplatform.com:443/powerautomate/automations/x?sig=y',
        },
        shown: { kind: 'teams', webhook_url_fingerprint: expect.stringMatching(/^[0-9a-f]{8}$/) },
      },
      {
        kind: 'slack',
        config: { kind: 'slack', webhook_url: 'https://hooks.slack.com/services/T0/B0/one' },
        change: { webhook_url: 'https://hooks.slack.com/services/T0/B0/two' },
        shown: { kind: 'slack', webhook_url_fingerprint: expect.stringMatching(/^[0-9a-f]{8}$/) },
      },
      {
        kind: 'email',
        config: { kind: 'email', to: ['a@b.test'] },
        change: { to: ['c@d.test', 'e@f.test'] },
        shown: { kind: 'email', to: ['c@d.test', 'e@f.test'] },
      },
      {
        kind: 'webhook',
        config: { kind: 'webhook', url: URL_OF_TESTS },
        change: { url: 'https://other.example.test/in', headers: { 'X-B': '2' } },
        shown: { kind: 'webhook', url: 'https://other.example.test/in', header_names: ['X-B'] },
      },
    ])('reaches the parts of a $kind config', async ({ config, change, shown }) => {
      const { get, patch } = await open(config)
      const before = await get()
      const changed = await patch({ config: change })
      expect(changed).toMatchObject({ status: 200, body: { config: shown } })
      expect(changed.body.config).not.toEqual(before.body.config)
    })

    test('sets, keeps and removes the template of a webhook', async () => {
      const { patch } = await webhook()
      const template = '{"text": {{summary}}}'
      expect((await patch({ config: { template } })).body.config).toMatchObject({ template })
      expect((await patch({ config: { headers: { 'X-A': '1' } } })).body.config).toMatchObject({ template })
      expect((await patch({ config: { template: null } })).body.config).toMatchObject({ template: null })
      const refused = await patch({ config: { template: '{"text": {{nothing}}}' } })
      expect(refused).toMatchObject({ status: 400, body: { errors: [{ path: 'body.config.template' }] } })
    })

    test('never sends header values to another host', async () => {
      const { patch, stored } = await webhook({ headers: { Authorization: 'Bearer canary' } })
      const moved = await patch({ config: { url: 'https://elsewhere.example.test/in' } })
      expect(moved).toMatchObject({ status: 400, body: { errors: [{ path: 'body.config.headers' }] } })
      expect((await stored()).config).toMatchObject({ url: URL_OF_TESTS })
      expect((await patch({ config: { url: `${URL_OF_TESTS}/2` } })).body.config.header_names).toEqual([
        'Authorization',
      ])
      const without = await patch({ config: { url: 'https://elsewhere.example.test/in', headers: {} } })
      expect(without.body.config).toMatchObject({ url: 'https://elsewhere.example.test/in', header_names: [] })
      expect(JSON.stringify(await stored())).not.toContain('Authorization')
    })

    test('stores headers with any valid name, each value sealed', async () => {
      const headers = { 'a.b': '1', $c: '2', constructor: '3' }
      const { get, stored } = await webhook({ headers })
      expect((await get()).body.config.header_names).toEqual(['$c', 'a.b', 'constructor'])
      const { _id: id, project_id: projectId, config } = await stored()
      const sealed = (config as WebhookConfig).headers?.['a.b'] as string
      const place = { collection: 'channels', id, field: 'headers', projectId } as const
      expect(secretBoxOfTests.open(sealed, place).reveal()).toBe('1')
    })

    const refused: { name: string; change: unknown; path: string }[] = [
      { name: 'nothing', change: {}, path: 'body' },
      { name: 'nothing of the config', change: { config: {} }, path: 'body.config' },
      { name: 'another kind', change: { config: { kind: 'slack' } }, path: 'body.config.kind' },
      { name: 'the secret', change: { config: { secret: 'x' } }, path: 'body.config.secret' },
      { name: 'a part of another kind', change: { config: { to: ['a@b.test'] } }, path: 'body.config.to' },
      { name: 'a header of ours', change: { config: { headers: { 'Webhook-Id': 'x' } } }, path: 'body.config.headers' },
      { name: 'its project', change: { project_id: 'prj_1' }, path: 'body.project_id' },
      { name: 'no event', change: { events: [] }, path: 'body.events' },
      {
        name: 'a time zone that does not exist',
        change: { quiet_hours: { time_zone: 'Europe/Bonn', from: '22:00', to: '07:00' } },
        path: 'body.quiet_hours.time_zone',
      },
      {
        name: 'quiet hours without an end',
        change: { quiet_hours: { time_zone: 'UTC', from: '08:00', to: '08:00' } },
        path: 'body.quiet_hours.to',
      },
      { name: 'no connection', change: { filter: { connection_ids: [] } }, path: 'body.filter.connection_ids' },
      {
        name: 'an unknown connection',
        change: { filter: { connection_ids: ['con_unknown'] } },
        path: 'body.filter.connection_ids.0',
      },
      { name: 'no kind', change: { filter: { kinds: [] } }, path: 'body.filter.kinds' },
      { name: 'a kind that never alerts', change: { filter: { kinds: ['pause'] } }, path: 'body.filter.kinds.0' },
      { name: 'no currency', change: { filter: { minimum_amounts: {} } }, path: 'body.filter.minimum_amounts' },
      {
        name: 'an unknown currency',
        change: { filter: { minimum_amounts: { eru: 1 } } },
        path: 'body.filter.minimum_amounts',
      },
    ]
    test.each(refused)('to $name is refused by name', async ({ change, path }) => {
      const { patch, get } = await webhook()
      const answer = await patch(change)
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
      expect(answer.body.errors.map((error: { path: string }) => error.path)).toContain(path)
      expect((await get()).body.version).toBe(1)
    })

    test('to a URL that may not be reached is refused', async () => {
      const { patch } = await webhook()
      const answer = await patch({ config: { url: 'https://blocked.test/x' } })
      expect(answer).toMatchObject({ status: 400, body: { code: 'egress_blocked' } })
    })
  })

  describe('a channel that its failures disabled', () => {
    const disabled = async (more: Partial<ChannelHealthDocument> = {}) => {
      const channel = await webhook()
      const at = new Date(testApi().now())
      const health: ChannelHealthDocument = {
        _id: channel.id,
        project_id: channel.projectId,
        disabled_at: at,
        disabled_reason: 'The receiver answered 410 Gone',
        disabled_incident_id: 'inc_1',
        last_success_at: null,
        last_failure_at: at,
        last_error: 'The receiver answered 410 Gone',
        failing_since: at,
        days: { [at.toISOString().slice(0, 10)]: { delivered: 1, failed: 3 } },
        ...more,
      }
      await testApi().others.channelHealth.put(health)
      return { ...channel, at }
    }
    const wishes = (id: string) =>
      testApi().commands.filter(command => command.kind === 'enable_channel' && command.channel_id === id)

    test('shows the reason and its earlier success rate', async () => {
      const { get, id, projectId, at } = await disabled()
      expect((await get()).body).toMatchObject({
        enabled: false,
        health: {
          state: 'disabled',
          success_rate: 0.25,
          last_error: 'The receiver answered 410 Gone',
          disabled_at: at.toISOString(),
          disabled_reason: 'The receiver answered 410 Gone',
        },
      })
      const list = await api().get(`/v1/alert-channels?project_id=${projectId}`)
      expect(list.body.data).toMatchObject([{ channel_id: id, enabled: false, health: { state: 'disabled' } }])
    })

    test('is enabled again by the notifier on request', async () => {
      const { id, projectId, patch } = await disabled()
      const answer = await patch({ enabled: true })
      expect(answer.body).toMatchObject({ enabled: true, health: { state: 'healthy', disabled_at: null } })
      expect(wishes(id)).toMatchObject([{ project_id: projectId }])
      // The failures are already reset, so no command is needed.
      expect((await patch({ enabled: true })).status).toBe(200)
      expect(wishes(id)).toHaveLength(1)
    })

    test.each([
      { name: 'switched on', change: { enabled: true }, isReset: true },
      { name: 'given a new target', change: { config: { url: `${URL_OF_TESTS}/new` } }, isReset: true },
      { name: 'given other headers', change: { config: { headers: { 'X-A': '1' } } }, isReset: false },
      { name: 'renamed', change: { name: 'Night shift' }, isReset: false },
    ])('when $name, its failures are reset: $isReset', async ({ change, isReset }) => {
      const { id, patch } = await disabled({ disabled_at: null, disabled_reason: null, disabled_incident_id: null })
      const answer = await patch(change)
      expect(answer.body.health.state).toBe(isReset ? 'healthy' : 'failing')
      expect(wishes(id)).toHaveLength(isReset ? 1 : 0)
    })

    test('is also enabled by a new target', async () => {
      const { patch } = await disabled()
      const answer = await patch({ config: { url: `${URL_OF_TESTS}/new` } })
      expect(answer.body).toMatchObject({ enabled: true, health: { state: 'healthy', disabled_at: null } })
    })

    test('stays disabled while the notifier is down, and a repeated request sends the same command', async () => {
      const { id, patch, get } = await disabled()
      testApi().setReceiverAnswer(undefined)
      const commandIds = []
      for (let i = 1; i <= 2; i++) {
        expect((await patch({ enabled: true })).body).toMatchObject({ enabled: false, health: { state: 'disabled' } })
        await expect.poll(() => wishes(id).length).toBe(i)
        commandIds.push(wishes(id).at(-1)?.command_id)
      }
      expect(new Set(commandIds).size).toBe(1)
      expect((await get()).body.enabled).toBe(false)
      testApi().setReceiverAnswer({})
    })
  })

  describe('rotating the secret of a webhook', () => {
    const opened = async (channel: ChannelDocument, field: 'secret' | 'previous_secret') => {
      const config = channel.config as WebhookConfig
      const sealed = field === 'secret' ? config.secret : config.previous_secret?.sealed
      const place = { collection: 'channels', id: channel._id, field, projectId: channel.project_id } as const
      return sealed == null ? null : secretBoxOfTests.open(sealed, place).reveal()
    }

    test('makes a new secret, shows it once, and keeps the previous one for the overlap', async () => {
      const { rotate, stored, get } = await webhook({ secret: 'the first' })
      const key = { 'idempotency-key': `rotate-${testApi().now()}` }
      const answer = await rotate({ overlap_hours: 2 }, key)
      expect(answer.status).toBe(200)
      const { secret, ...shown } = answer.body
      expect(secret).toMatch(/^whsec_[0-9A-Za-z+/]{43}=$/)
      expect((await get()).body).toEqual(shown)
      const end = Date.parse(shown.config.previous_secret_expires_at)
      expect(end).toBe(Date.parse(shown.updated_at) + 2 * HOUR_MS)
      expect(await opened(await stored(), 'secret')).toBe(secret)
      expect(await opened(await stored(), 'previous_secret')).toBe('the first')
      const repeated = await rotate({ overlap_hours: 2 }, key)
      expect(repeated.body).toEqual(shown)
      testApi().advanceClock(2 * HOUR_MS)
      expect((await get()).body.config.previous_secret_expires_at).toBeNull()
    })

    test('accepts a given secret, and ends the previous one at once without an overlap', async () => {
      const { rotate, stored } = await webhook({ secret: 'the first' })
      const answer = await rotate({ secret: 'the second', overlap_hours: 0 })
      expect(answer.body).toMatchObject({ secret: 'the second', config: { previous_secret_expires_at: null } })
      expect(await opened(await stored(), 'secret')).toBe('the second')
      expect((await stored()).config).toMatchObject({ previous_secret: null })
    })

    test('gives a first secret to a webhook without one', async () => {
      const { rotate, get } = await webhook()
      expect((await get()).body.config.secret_fingerprint).toBeNull()
      const answer = await rotate({})
      expect(answer.body.config).toMatchObject({
        secret_fingerprint: expect.stringMatching(/^[0-9a-f]{8}$/),
        previous_secret_expires_at: null,
      })
    })

    test('replaces a secret that cannot be opened', async () => {
      const { rotate, stored, id } = await webhook({ secret: 'the first' })
      const { config } = await stored()
      const unreadable = { ...(config as WebhookConfig), secret: 'v1.gone.x.y.z' }
      await testApi().stores.channels.change({ _id: id }, { config: unreadable })
      expect((await rotate({ secret: 'the second' })).status).toBe(200)
      expect(await opened(await stored(), 'secret')).toBe('the second')
      expect((await stored()).config).toMatchObject({ previous_secret: null })
    })

    test('is carried out once if its answer is lost: the repeat with the same key gets it', async () => {
      const { rotate, stored, id } = await webhook({ secret: 'the first' })
      const key = `lost-${id}`
      const given = await rotate({ secret: 'the second' }, { 'idempotency-key': key })
      await loseAnswer(testApi(), key)
      const repeated = await rotate({ secret: 'the second' }, { 'idempotency-key': key })
      expect(repeated).toMatchObject({ status: 200, body: given.body })
      expect(await opened(await stored(), 'previous_secret')).toBe('the first')
    })

    test('keeps the previous secret if the answer with the generated one is lost and repeated', async () => {
      const { rotate, stored, id } = await webhook({ secret: 'the first' })
      const key = `lost-${id}`
      await rotate({}, { 'idempotency-key': key })
      await loseAnswer(testApi(), key)
      const { secret } = (await rotate({}, { 'idempotency-key': key })).body
      expect(await opened(await stored(), 'secret')).toBe(secret)
      expect(await opened(await stored(), 'previous_secret')).toBe('the first')
    })

    test('to the secret in use is refused, and so is a rotation for another kind of channel', async () => {
      const { rotate } = await webhook({ secret: 'the first' })
      expect(await rotate({ secret: 'the first' })).toMatchObject({ status: 409, body: { code: 'conflict' } })
      const mail = await open({ kind: 'email', to: ['a@b.test'] })
      expect(await mail.rotate({})).toMatchObject({ status: 409, body: { code: 'conflict' } })
    })

    test.each([
      { name: 'words', secret: 'whsec_my-own-words' },
      { name: 'nothing', secret: 'whsec_' },
      { name: 'base64 for URLs', secret: 'whsec_-_-_' },
      { name: 'base64 cut off', secret: 'whsec_AQIDB' },
      { name: 'padding that is not due', secret: 'whsec_AQID=' },
      { name: 'base64 and a line break', secret: 'whsec_AQIDBA==\n' },
    ])('to whsec_ followed by $name is refused with the remedy', async ({ secret }) => {
      const { rotate, stored } = await webhook({ secret: 'the first' })
      const answer = await rotate({ secret })
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
      expect(answer.body.errors).toEqual([
        {
          path: 'body.secret',
          message:
            'After whsec_ write the key in base64, for example the output of openssl rand -base64 32; a secret of another form must not begin with whsec_',
        },
      ])
      expect(await opened(await stored(), 'secret')).toBe('the first')
    })

    test.each(['whsec_AQIDBA==', 'whsec_AQIDBA', 'WHSEC_my-own-words', ' whsec_x', 'ü!'])(
      "to %j is accepted, because the owner's verifier uses plain text",
      async secret => {
        const { rotate } = await webhook({ secret: 'the first' })
        expect(await rotate({ secret })).toMatchObject({ status: 200, body: { secret } })
      },
    )

    test('with an overlap of more than a week is refused', async () => {
      const { rotate } = await webhook({ secret: 'the first' })
      expect((await rotate({ overlap_hours: 169 })).body.errors).toMatchObject([{ path: 'body.overlap_hours' }])
    })
  })
}
