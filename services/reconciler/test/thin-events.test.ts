/** Thin events of the card processor, which name an object and do not contain it, through the whole reconciler in memory. */
import type { ConnectionDocument, InboundEvent } from '@backstop/contracts'
import { Secret } from '@backstop/kit/config'
import type { Egress } from '@backstop/kit/egress'
import { createSecretBox } from '@backstop/kit/secret-box'
import { createCardProcessor, type ProcessorEvent, thinEventOf } from '@backstop/simulator'
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
  for (const stop of stops.splice(0).reverse()) await stop()
})

interface Request {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
}

/** A reconciler whose provider knows one refund and its thin event. `status` is that of every answer about them. */
async function harness(connection: Partial<ConnectionDocument> = { read_key: READ_KEY }) {
  const provider = { status: 200, requests: [] as Request[] }
  const answers = new Map<string, unknown>()
  const egress: Egress = {
    checkUrl: () => undefined,
    async request({ url, headers = {} }) {
      const path = new URL(url).pathname
      const answer = answers.get(path)
      if (answer === undefined) {
        return { status: 200, headers: {}, body: Buffer.from('{"data":[],"has_more":false}'), complete: true }
      }
      provider.requests.push({ path, headers: headers as Record<string, string> })
      return { status: provider.status, headers: {}, body: Buffer.from(JSON.stringify(answer)), complete: true }
    },
    stop: async () => {},
  }
  const made = { created_at: new Date(0), ...connection }
  const parts = await startMemoryReconciler(CONNECTION, () => ({}), made, egress)
  stops.push(parts.stop)
  const { clock, codec, publish, contents } = parts
  const account = createCardProcessor({ now: clock.now })
  const { charge } = account.createPayment({ amount: 4_000, currency: 'eur' })
  const refund = account.refund({ charge: charge.id, amount: 1_500, idempotencyKey: 'key-1' })
  const snapshot = account.events().find(({ type }) => type === 'refund.created') as ProcessorEvent
  const thin = thinEventOf(snapshot)
  answers.set(`/v1/refunds/${refund.id}`, refund)
  answers.set(`/v2/core/events/${thin.id}`, thin)
  const notify = (body: { id: string; type: string }) => {
    const event: InboundEvent = {
      ...{ provider: 'processor', project_id: PROJECT, connection_id: CONNECTION, event_id: body.id },
      ...{ event_type: body.type, received_at: new Date(clock.now()).toISOString(), body: { ...body } },
    }
    return publish([codec.encode('inbound-event', event)])
  }
  const pass = async (seconds: number) => {
    for (let passed = 0; passed < seconds; passed++) await clock.advance(SECOND)
  }
  const inbox = () => [...contents.inbox.values()].map(({ document }) => document)
  const actions = () => [...contents.actions.values()]
  const alerts = async () => (await parts.alerts()).map(({ event }) => event)
  /** Changes what the provider answers about the thin event. */
  const answerEvent = (more: object) => answers.set(`/v2/core/events/${thin.id}`, { ...thin, ...more })
  return { ...parts, answerEvent, provider, refund, snapshot, thin, notify, pass, inbox, actions, alerts }
}

describe('a thin event', () => {
  test('is held while its connection has no read key, and read when it gets one', async () => {
    const { clock, contents, command, notify, thin, pass, inbox, actions, alerts } = await harness({})
    await notify(thin)
    await pass(75)
    expect(inbox()).toMatchObject([{ outcome: 'held', reason: expect.stringContaining('no read key') }])
    expect(actions()).toEqual([])
    const known = contents.connections.get(CONNECTION) as ConnectionDocument
    contents.connections.set(CONNECTION, { ...known, read_key: READ_KEY, version: 2 })
    await command([
      {
        ...{ kind: 'connection_ready', command_id: 'cmd_1', project_id: PROJECT, connection_id: CONNECTION },
        requested_at: new Date(clock.now()).toISOString(),
      },
    ])
    await pass(75)
    expect(inbox()).toMatchObject([{ outcome: 'hinted' }])
    expect(actions()).toMatchObject([{ verdict: 'unexplained' }])
    expect(await alerts()).toEqual(['incident.opened'])
  })

  test('is judged by the object and the request that were read', async () => {
    const { notify, thin, refund, pass, actions, alerts } = await harness()
    await notify(thin)
    await pass(5)
    expect(actions()).toMatchObject([
      {
        provider_ref: refund.id,
        amount: 1_500,
        verdict: 'pending',
        origin: { channel: 'api', request_id: thin.reason?.request?.id, idempotency_key: 'key-1' },
      },
    ])
    await pass(75)
    expect(await alerts()).toEqual(['incident.opened'])
  })

  test('names the actor of the action and of its incident, if the processor says who sent the request', async () => {
    const actorsOf = async (user: string, context: string | null = null) => {
      const { notify, thin, pass, actions, contents, answerEvent } = await harness()
      const request = { ...thin.reason?.request, client: { dashboard_user: { email: user } } }
      answerEvent({ context, reason: { type: 'request', request } })
      await notify({ ...thin, context } as never)
      await pass(75)
      expect(actions()).toMatchObject([{ origin: { channel: 'dashboard', user }, verdict: 'unexplained' }])
      return [...actions(), ...contents.incidents.values()].map(({ actor_id }) => actor_id)
    }
    const [ana, ofIncident] = await actorsOf('ana@example.com')
    expect(ana).toMatch(/^acr_/)
    expect(ofIncident).toBe(ana)
    expect((await actorsOf('Ana@example.com'))[0]).toBe(ana)
    expect((await actorsOf('bo@example.com'))[0]).not.toBe(ana)
    // Connected accounts have their own users.
    expect((await actorsOf('ana@example.com', 'acct_1'))[0]).not.toBe(ana)
  })

  test('names no actor without a client', async () => {
    const { notify, thin, pass, actions } = await harness()
    await notify(thin)
    await pass(5)
    expect(actions()[0]).not.toHaveProperty('actor_id')
  })

  test.each([
    { name: 'before', order: ['thin', 'snapshot'] as const },
    { name: 'after', order: ['snapshot', 'thin'] as const },
    { name: 'twice, around', order: ['thin', 'snapshot', 'thin', 'snapshot'] as const },
  ])('that arrives $name the event with the object is the same action', async ({ order }) => {
    const { notify, pass, actions, alerts, ...events } = await harness()
    for (const form of order) {
      await notify(events[form])
      await pass(3)
    }
    await pass(75)
    expect(actions()).toHaveLength(1)
    expect(await alerts()).toEqual(['incident.opened'])
  })

  test('waits for a provider that does not answer, and is read when it does', async () => {
    const { provider, notify, thin, pass, actions, alerts } = await harness()
    provider.status = 503
    await notify(thin)
    await pass(120)
    expect(actions()).toEqual([])
    provider.status = 200
    await pass(120)
    expect(actions()).toMatchObject([{ verdict: 'unexplained' }])
    expect(await alerts()).toEqual(['incident.opened'])
  })

  test('of a connected account is read as this account, whose name is shown', async () => {
    const { provider, notify, thin, pass, actions, alerts } = await harness()
    await notify({ ...thin, context: 'acct_1' } as never)
    await pass(75)
    expect(provider.requests.length).toBeGreaterThanOrEqual(2)
    for (const { headers } of provider.requests) expect(headers).toMatchObject({ 'stripe-context': 'acct_1' })
    expect(actions()).toMatchObject([{ account: 'acct_1', verdict: 'unexplained' }])
    expect(await alerts()).toEqual(['incident.opened'])
  })

  test('without a usable object is a dead letter with the reason', async () => {
    const { notify, thin, pass, inbox, dead } = await harness()
    await notify({ ...thin, related_object: null } as never)
    await pass(2)
    expect(dead()).toHaveLength(1)
    expect(inbox()).toMatchObject([{ outcome: 'parked', reason: expect.stringContaining('related_object.id') }])
  })
})
