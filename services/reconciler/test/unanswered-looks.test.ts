/** Second looks at signed refunds whose provider is unavailable, through the whole reconciler in memory. */
import type { ConnectionDocument, InboundEvent } from '@backstop/contracts'
import { Secret } from '@backstop/kit/config'
import type { Egress, EgressResponse } from '@backstop/kit/egress'
import { createSecretBox } from '@backstop/kit/secret-box'
import { MINUTE, PROJECT, SECOND, T0 } from '@backstop/verdict/test'
import { afterEach, describe, expect, test } from 'vitest'
import { startMemoryReconciler } from './memory-reconciler.ts'
import { TEST_KEYS } from './reading-ports.ts'

const CONNECTION = 'con_1'
const READ_KEY: ConnectionDocument['read_key'] = {
  sealed: createSecretBox(TEST_KEYS).seal(new Secret('rk_test'), {
    collection: 'connections',
    field: 'read_key',
    id: CONNECTION,
    projectId: PROJECT,
  }),
  fingerprint: 'f',
  created_at: new Date(T0 - 60 * MINUTE),
  expires_at: null,
}

const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

interface Reply extends Partial<Pick<EgressResponse, 'headers'>> {
  readonly status: number
  readonly body: unknown
}
type Respond = () => Promise<Reply>

const NOTHING: Reply = { status: 200, body: { object: 'list', data: [], has_more: false } }

/** A reconciler whose provider answers questions about refunds with `respond`, and lists no refunds to its sweeps. */
async function harness(respond: Respond) {
  const provider = { respond }
  const egress: Egress = {
    checkUrl: () => undefined,
    async request({ url }) {
      const isAboutRefund = /\/refunds\/re_/.test(url)
      const { status, body, headers = {} } = isAboutRefund ? await provider.respond() : NOTHING
      return { status, headers, body: Buffer.from(JSON.stringify(body)), complete: true }
    },
    stop: async () => {},
  }
  const { clock, codec, publish, alerts, contents, stop } = await startMemoryReconciler(
    CONNECTION,
    () => ({}),
    { read_key: READ_KEY, created_at: new Date(0) },
    egress,
  )
  stops.push(stop)
  const refund = async (id: string) => {
    const object = { id, object: 'refund', amount: 2499, currency: 'eur', charge: null, payment_intent: `pi_${id}` }
    const event: InboundEvent = {
      ...{ provider: 'processor', project_id: PROJECT, connection_id: CONNECTION },
      ...{ event_id: `evt_${id}`, event_type: 'refund.created', received_at: new Date(clock.now()).toISOString() },
      body: {
        ...{ id: `evt_${id}`, object: 'event', type: 'refund.created', created: Math.floor(clock.now() / 1000) },
        livemode: true,
        data: { object: { ...object, created: Math.floor(clock.now() / 1000), status: 'succeeded' } },
      },
    }
    await publish([codec.encode('inbound-event', event)])
  }
  const lateMs = async () => {
    const opened = (await alerts()).filter(({ event }) => event === 'incident.opened')
    return opened.map(alert => {
      const action = 'action' in alert.data ? alert.data.action : null
      return Date.parse(alert.created_at) - Date.parse(action?.second_look_at ?? '')
    })
  }
  const actions = () => [...contents.actions.values()]
  return { clock, provider, refund, alerts, lateMs, actions }
}

const refused =
  (status: number, headers: Record<string, string> = {}): Respond =>
  async () => ({
    status,
    headers,
    body: { error: { code: 'nothing' } },
  })
const missing: Respond = async () => ({ status: 404, body: { error: { code: 'resource_missing' } } })

describe('an unexplained signed refund alerts within five seconds of its second look', () => {
  test.each<{ name: string; respond: Respond }>([
    { name: 'never answers, even if the request is aborted', respond: () => new Promise(() => {}) },
    { name: 'answers 503', respond: refused(503) },
    { name: 'answers 429 and asks for an hour', respond: refused(429, { 'retry-after': '3600' }) },
    { name: 'refuses the key', respond: refused(401) },
  ])('if the provider $name', async ({ respond }) => {
    const { clock, refund, alerts, lateMs, actions } = await harness(respond)
    await refund('re_1')
    for (let seconds = 0; seconds < 75; seconds++) await clock.advance(SECOND)
    const [late, ...others] = await lateMs()
    expect(others).toEqual([])
    expect(late).toBeGreaterThanOrEqual(0)
    expect(late).toBeLessThanOrEqual(5 * SECOND)
    expect((await alerts())[0]?.data).toMatchObject({ action: { why: { read_back: 'unavailable' } } })
    expect(actions()).toMatchObject([{ verdict: 'unexplained' }])
  })

  test('if the queue of its connection is full of other questions', async () => {
    const { clock, refund, lateMs } = await harness(() => new Promise(() => {}))
    for (let count = 0; count < 200; count++) await refund(`re_${count}`)
    for (let seconds = 0; seconds < 75; seconds++) await clock.advance(SECOND)
    const late = await lateMs()
    expect(late).toHaveLength(200)
    expect(Math.max(...late)).toBeLessThanOrEqual(5 * SECOND)
  })
})

describe('after that alert', () => {
  test('the provider is asked again, and the incident is resolved if the provider does not know the refund', async () => {
    const { clock, provider, refund, alerts, actions } = await harness(refused(503))
    await refund('re_1')
    await clock.advance(70 * SECOND)
    expect((await alerts()).map(({ event }) => event)).toEqual(['incident.opened'])
    provider.respond = missing
    for (let minutes = 0; minutes < 3; minutes++) await clock.advance(MINUTE)
    expect((await alerts()).map(({ event }) => event)).toEqual(['incident.opened', 'incident.resolved'])
    expect(actions()).toMatchObject([{ reason: 'provider_denies_it', why: { read_back: 'not_found' } }])
  })
})
