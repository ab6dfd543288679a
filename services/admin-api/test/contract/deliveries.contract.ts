import { type ChannelHealthDocument, type DeliveryDocument, newId } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import type { TestApi } from '../test-api.ts'
import { deliveryDocument } from './incidents.contract.ts'
import { auditOf, createTestProject, loseAnswer } from './test-project.ts'

const MINUTE_MS = 60_000

/** Creates a project with a webhook and one delivery in each state, a minute apart, newest last. */
async function createDeliveries(testApi: TestApi) {
  const { api, others } = testApi
  const { projectId } = await createTestProject(api)
  const config = { kind: 'webhook', url: 'https://hooks.example.test/in' }
  const body = { project_id: projectId, name: 'Ops', events: ['incident.opened'], config }
  const channelId: string = (await api.post('/v1/alert-channels', body)).body.channel_id
  const beganAtMs = testApi.now()
  const put = async (index: number, facts: Partial<DeliveryDocument>) => {
    const at = new Date(beganAtMs + index * MINUTE_MS)
    const delivery = { ...deliveryDocument(projectId, newId('alert'), at), channel_id: channelId, ...facts }
    await others.deliveries.put(delivery)
    return delivery
  }
  const attempt = { attempt: 2, topic: 'deliveries.retry.1m' } as const
  const dueAt = new Date(beganAtMs + 10 * MINUTE_MS)
  return {
    projectId,
    channelId,
    beganAtMs,
    delivered: await put(0, {}),
    dead: await put(1, { state: 'dead', reason: 'The receiver answered 500 for 72 hours' }),
    retrying: await put(2, { state: 'retrying', next_attempt: { ...attempt, due_at: dueAt } }),
    superseded: await put(3, { state: 'superseded', told_by: 'dlv_later' }),
    tested: await put(4, { state: 'dead', test: true, event: 'channel.test' }),
  }
}

export function describeDeliveries(testApi: () => TestApi): void {
  const api = () => testApi().api
  const idsOf = (answer: { body: { data: { delivery_id: string }[] } }) =>
    answer.body.data.map(({ delivery_id }) => delivery_id)

  describe('deliveries', () => {
    test('are read with each attempt, without the alert itself', async () => {
      const { dead, retrying, channelId, projectId } = await createDeliveries(testApi())
      const { status, body } = await api().get(`/v1/deliveries/${dead._id}`)
      expect(status).toBe(200)
      expect(body).toEqual({
        delivery_id: dead._id,
        project_id: projectId,
        channel_id: channelId,
        channel_kind: 'webhook',
        alert_id: dead.alert_id,
        event: 'incident.opened',
        test: false,
        state: 'dead',
        about: {
          title: expect.stringMatching(/^Unexplained refund of EUR /),
          path: expect.stringMatching(/^\/p\/.*\/incidents\/inc_/),
        },
        reason: 'The receiver answered 500 for 72 hours',
        attempts: dead.attempts.map(attempt => ({ ...attempt, at: attempt.at.toISOString() })),
        next_attempt_at: null,
        held_until: null,
        told_by: null,
        created_at: dead.created_at.toISOString(),
        updated_at: dead.updated_at.toISOString(),
      })
      const waiting = await api().get(`/v1/deliveries/${retrying._id}`)
      expect(waiting.body.next_attempt_at).toBe(retrying.next_attempt?.due_at.toISOString())
      expect((await api().get('/v1/deliveries/dlv_none')).status).toBe(404)
    })

    test('are held while their channel is paused and they are due', async () => {
      const of = await createDeliveries(testApi())
      const { channelHealth, deliveries } = testApi().others
      const until = new Date(testApi().now() + MINUTE_MS)
      const since = new Date(testApi().now())
      const noFailure = { disabled_at: null, disabled_reason: null, last_success_at: null, last_failure_at: null }
      const ids = { _id: of.channelId, project_id: of.projectId, last_error: null }
      await channelHealth.put({ ...noFailure, ...ids, held: { since, until, reason: 'failing' } })
      const due = {
        ...of.retrying,
        _id: newId('delivery'),
        reason: 'The receiver answered 500',
        next_attempt: { attempt: 2, due_at: since, topic: 'deliveries.retry.5s' },
      }
      await deliveries.put(due)
      const held = {
        state: 'retrying',
        held_until: until.toISOString(),
        reason: `Held until ${until.toISOString()}. The last attempts at this channel failed, one after the other. The receiver answered 500`,
      }
      expect((await api().get(`/v1/deliveries/${due._id}`)).body).toMatchObject(held)
      const { data } = (await api().get(`/v1/deliveries?channel_id=${of.channelId}`)).body
      const shown = new Map<string, { held_until: unknown }>(
        data.map((one: { delivery_id: string }) => [one.delivery_id, one]),
      )
      expect(shown.get(due._id)).toMatchObject(held)
      for (const other of [of.retrying, of.dead, of.delivered]) {
        expect(shown.get(other._id)?.held_until).toBeNull()
      }
      expect((await api().get(`/v1/alert-channels/${of.channelId}`)).body.health).toMatchObject({
        held_until: until.toISOString(),
        held_reason: 'The last attempts at this channel failed, one after the other',
      })
    })

    test('are held while their channel has quiet hours, with the end and the reason', async () => {
      const of = await createDeliveries(testApi())
      const { projectId } = of
      const hour = (add: number) => new Date(testApi().now() + add * 60 * MINUTE_MS).toISOString().slice(11, 13)
      const quiet_hours = { time_zone: 'UTC', from: `${hour(-1)}:00`, to: `${hour(2)}:00` }
      const config = { kind: 'email', to: ['a@b.test'] }
      const channel = { project_id: projectId, name: 'Night', events: ['incident.opened'], config, quiet_hours }
      const channelId: string = (await api().post('/v1/alert-channels', channel)).body.channel_id
      const due_at = new Date(testApi().now())
      const waiting = {
        ...of.retrying,
        _id: newId('delivery'),
        channel_id: channelId,
        state: 'pending' as const,
        reason: 'Waiting for its first attempt',
        next_attempt: { attempt: 1, due_at, topic: 'deliveries' },
      }
      await testApi().others.deliveries.put(waiting)
      const shown = (await api().get(`/v1/deliveries/${waiting._id}`)).body
      expect(shown.held_until).toMatch(new RegExp(`T${hour(2)}:00:00.000Z$`))
      expect(shown.reason).toBe(
        `Held until ${shown.held_until}. The channel has quiet hours. Waiting for its first attempt`,
      )
      expect((await api().get(`/v1/deliveries?channel_id=${channelId}`)).body.data).toEqual([shown])
    })

    test('are listed by project, channel, alert, state and window, newest first and page by page', async () => {
      const { projectId, channelId, beganAtMs, ...of } = await createDeliveries(testApi())
      const list = async (query: string) => idsOf(await api().get(`/v1/deliveries?${query}`))
      const all = [of.superseded._id, of.retrying._id, of.dead._id, of.delivered._id]
      expect(await list(`project_id=${projectId}`)).toEqual(all)
      expect(await list(`channel_id=${channelId}`)).toEqual(all)
      expect(await list(`alert_id=${of.dead.alert_id}`)).toEqual([of.dead._id])
      expect(await list(`channel_id=${channelId}&state=dead`)).toEqual([of.dead._id])
      const minute = (index: number) => new Date(beganAtMs + index * MINUTE_MS).toISOString()
      expect(await list(`project_id=${projectId}&from=${minute(1)}&to=${minute(3)}`)).toEqual([
        of.retrying._id,
        of.dead._id,
      ])
      const first = await api().get(`/v1/deliveries?channel_id=${channelId}&limit=2`)
      const rest = await api().get(`/v1/deliveries?channel_id=${channelId}&cursor=${first.body.next_cursor}`)
      expect([...idsOf(first), ...idsOf(rest)]).toEqual(all)
      expect(rest.body.next_cursor).toBeNull()
      expect((await api().get('/v1/deliveries?state=lost')).status).toBe(400)
      expect((await api().get('/v1/deliveries?from=yesterday')).status).toBe(400)
    })

    test('that are tests of a channel are listed only if asked for', async () => {
      const { channelId, tested } = await createDeliveries(testApi())
      const list = async (query: string) => idsOf(await api().get(`/v1/deliveries?channel_id=${channelId}${query}`))
      expect(await list('')).not.toContain(tested._id)
      expect(await list('&state=dead')).not.toContain(tested._id)
      expect(await list('&test=true')).toEqual([tested._id])
      expect(await list('&test=false')).not.toContain(tested._id)
      expect((await api().get(`/v1/deliveries/${tested._id}`)).body).toMatchObject({ test: true, state: 'dead' })
      expect((await api().get('/v1/deliveries?test=1')).status).toBe(400)
    })

    test.each(['dead', 'retrying'] as const)(
      'that are %s are attempted now by a command to the notifier',
      async state => {
        const of = await createDeliveries(testApi())
        const path = `/v1/deliveries/${of[state]._id}/retry`
        const key = { 'idempotency-key': `retry-${of[state]._id}` }
        const answer = await api().post(path, undefined, key)
        expect(answer).toMatchObject({ status: 202, body: { delivery_id: of[state]._id, state } })
        expect((await api().post(path, undefined, key)).body).toEqual(answer.body)
        const wishes = () =>
          testApi().commands.filter(one => one.kind === 'retry_delivery' && one.delivery_id === of[state]._id)
        await expect.poll(wishes).toMatchObject([{ project_id: of.projectId }])
        const rows = await auditOf(testApi(), of[state]._id)
        expect(rows.map(({ action }) => action)).toEqual(['delivery.retry'])
      },
    )

    test.each(['deliveries/:id/retry', 'dead-letters/:id/replay'])(
      'answer a repeated POST %s as the first one, although the delivery has arrived meanwhile',
      async route => {
        const { dead } = await createDeliveries(testApi())
        const key = `${route}-${dead._id}`
        const post = () => api().post(`/v1/${route.replace(':id', dead._id)}`, undefined, { 'idempotency-key': key })
        const first = await post()
        await testApi().others.deliveries.put({ ...dead, state: 'delivered' })
        await loseAnswer(testApi(), key)
        expect(await post()).toMatchObject({ status: 202, body: first.body })
        expect(await auditOf(testApi(), dead._id)).toHaveLength(1)
      },
    )

    test.each([
      { name: 'delivered', why: /It was already delivered/ },
      { name: 'superseded', why: /told_by/ },
      { name: 'tested', why: /It was a test/ },
    ] as const)('that are $name are not sent again', async ({ name, why }) => {
      const of = await createDeliveries(testApi())
      const answer = await api().post(`/v1/deliveries/${of[name]._id}/retry`)
      expect(answer).toMatchObject({ status: 409, body: { code: 'conflict', detail: expect.stringMatching(why) } })
    })

    const health = (channelId: string, projectId: string): ChannelHealthDocument => ({
      _id: channelId,
      project_id: projectId,
      disabled_at: new Date(testApi().now()),
      disabled_reason: 'Nothing arrived there for five days',
      last_success_at: null,
      last_failure_at: null,
      last_error: null,
    })
    type Of = { channelId: string; projectId: string }
    const obstacles: { name: string; why: RegExp; put: (of: Of) => Promise<unknown>; replay: number }[] = [
      {
        name: 'deleted',
        why: /was deleted/,
        put: ({ channelId }) => api().delete(`/v1/alert-channels/${channelId}`),
        replay: 404,
      },
      {
        name: 'switched off',
        why: /switched off; enable it/,
        put: ({ channelId }) => api().patch(`/v1/alert-channels/${channelId}`, { enabled: false }),
        replay: 409,
      },
      {
        name: 'disabled by its failures',
        why: /disabled by its failures; enable it/,
        put: ({ channelId, projectId }) => testApi().others.channelHealth.put(health(channelId, projectId)),
        replay: 409,
      },
    ]
    test.each(obstacles)('are not sent again to a channel that is $name', async ({ put, why, replay }) => {
      const of = await createDeliveries(testApi())
      await put(of)
      const answer = await api().post(`/v1/deliveries/${of.dead._id}/retry`)
      expect(answer).toMatchObject({ status: 409, body: { code: 'conflict', detail: expect.stringMatching(why) } })
      const window = { from: '2026-01-01T00:00:00Z', to: '2027-01-01T00:00:00Z' }
      expect((await api().post('/v1/replays', { channel_id: of.channelId, ...window })).status).toBe(replay)
    })
  })

  describe('a replay', () => {
    const window = { from: '2026-11-01T00:00:00+01:00', to: '2026-12-01T00:00:00Z' }
    const ask = async () => {
      const of = await createDeliveries(testApi())
      const answer = await api().post('/v1/replays', { channel_id: of.channelId, ...window })
      return { ...of, answer, id: answer.body.replay_id as string }
    }

    test('is requested by channel and window, and waits for the notifier', async () => {
      const { answer, id, channelId, projectId } = await ask()
      expect(answer.status).toBe(202)
      expect(answer.body).toEqual({
        replay_id: expect.stringMatching(/^rpl_/),
        project_id: projectId,
        channel_id: channelId,
        from: '2026-10-31T23:00:00.000Z',
        to: '2026-12-01T00:00:00.000Z',
        state: 'requested',
        total: null,
        requeued: 0,
        requested_at: expect.any(String),
        finished_at: null,
      })
      expect((await api().get(`/v1/replays/${id}`)).body).toEqual(answer.body)
      const wishes = () => testApi().commands.filter(one => one.kind === 'replay_deliveries' && one.replay_id === id)
      await expect
        .poll(wishes)
        .toMatchObject([{ channel_id: channelId, project_id: projectId, from: answer.body.from, to: answer.body.to }])
    })

    test('shows its progress, alone and in the list', async () => {
      const { id, projectId, channelId, answer } = await ask()
      const at = new Date(testApi().now())
      const running = {
        _id: id,
        project_id: projectId,
        channel_id: channelId,
        from: new Date(window.from),
        to: new Date(window.to),
        state: 'running' as const,
        total: 250,
        requeued: 100,
        requested_at: at,
        cursor: null,
        next_page_at: at,
        finished_at: null,
      }
      await testApi().others.replays.put(running)
      expect((await api().get(`/v1/replays/${id}`)).body).toEqual({
        ...answer.body,
        state: 'running',
        total: 250,
        requeued: 100,
      })
      await testApi().others.replays.put({ ...running, state: 'done', requeued: 250, finished_at: at })
      const done = { ...answer.body, state: 'done', total: 250, requeued: 250, finished_at: at.toISOString() }
      const later = await api().post('/v1/replays', { channel_id: channelId, ...window })
      const list = await api().get(`/v1/replays?project_id=${projectId}`)
      expect(list.body).toEqual({ data: expect.arrayContaining([later.body, done]), next_cursor: null })
      expect((await api().get(`/v1/replays?channel_id=${channelId}&limit=1`)).body.data).toHaveLength(1)
      expect((await api().get('/v1/replays?channel_id=chn_none')).body.data).toEqual([])
    })

    test.each([
      { name: 'a window that ends before it begins', body: { from: window.to, to: window.from }, path: 'body.to' },
      { name: 'no window', body: {}, path: 'body.from' },
      { name: 'a day without a time', body: { ...window, from: '2026-11-01' }, path: 'body.from' },
    ])('of $name is refused', async ({ body, path }) => {
      const { channelId } = await createDeliveries(testApi())
      const answer = await api().post('/v1/replays', { channel_id: channelId, ...body })
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
      expect(answer.body.errors.map((error: { path: string }) => error.path)).toContain(path)
    })
  })
}
