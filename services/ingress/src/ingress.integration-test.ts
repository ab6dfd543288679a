import { type ProviderKind, ProviderKind as Providers } from '@backstop/contracts'
import type { IncomingMessage } from '@backstop/kit/bus'
import { createMongoSchemaIds, createRegistryCodec, type MessageCodec } from '@backstop/kit/registry'
import type { RunningService } from '@backstop/kit/service'
import { until } from '@backstop/kit/test'
import { SIGNERS } from '@backstop/providers/test'
import { MongoClient } from 'mongodb'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectionDocument } from '../test/connection-documents.ts'
import { type HttpAnswer, post } from '../test/http-client.ts'
import { credentialOf, eventOf, SECRETS } from '../test/memory-ingress.ts'
import { type ProvisionedStack, provisionStack } from '../test/real-ingress.ts'
import { startIngress } from './start.ts'

let parts: ProvisionedStack
let ingress: RunningService
let codec: MessageCodec
const base = () => `http://127.0.0.1:${ingress.port}`
const ops = (path: string) => fetch(`http://127.0.0.1:${ingress.opsPort}${path}`)

beforeAll(async () => {
  parts = await provisionStack()
  ingress = await startIngress(parts.environment)
  const { stack } = parts
  const mongo = new MongoClient(stack.mongoUrl.reveal())
  const schemaIds = createMongoSchemaIds(mongo.db(stack.dbName))
  codec = await createRegistryCodec({ ...stack, schemaIds, logger: stack.logger })
  await mongo.close()
  await until('readiness', async () => (await ops('/readyz')).ok)
})
afterAll(async () => {
  await ingress.stop()
  await parts.close()
})

const postEvent = (provider: ProviderKind, event: Record<string, unknown>, id = `con_${provider}`) => {
  const body = JSON.stringify(event)
  return post(`${base()}/v1/webhooks/${provider}/${id}`, body, credentialOf(provider, body))
}
/** The event about another subject, so that its message goes to another partition. */
const withSubject = (provider: ProviderKind, id: string, subject: string) =>
  JSON.parse(JSON.stringify(eventOf(provider, id)).replace(/pi_1|txn_1|sub_1/, subject)) as Record<string, unknown>
const eventIds = (messages: IncomingMessage[]) => messages.map(({ headers }) => headers.event_id)

/** One request per way of being refused, for one provider. */
function refusedRequests(provider: ProviderKind): (() => Promise<HttpAnswer>)[] {
  const signer = SIGNERS[provider]
  const body = Buffer.from(JSON.stringify(eventOf(provider, 'evt_attack')))
  const good = credentialOf(provider, body)
  const to =
    (id: string, headers: Record<string, string | string[]>, content: Buffer | string = body) =>
    () =>
      post(`${base()}/v1/webhooks/${provider}/${id}`, content, headers)
  const own = `con_${provider}`
  const other = provider === 'processor' ? 'con_reseller' : 'con_processor'
  const [value] = Object.values(good) as [string]
  return [
    to(own, {}),
    to(own, { [signer.header]: 'nonsense' }),
    to(own, { [signer.header]: signer.sign(body, ['whsec_not-the-secret'], Date.now()) }),
    to(own, { [signer.header]: [value, value] }),
    to('con_unknown', good),
    to('con_deleted', good),
    to(other, good),
    to(own, { ...good, 'content-encoding': 'gzip' }),
    to(own, good, Buffer.alloc(1_048_577)),
    to(own, credentialOf(provider, '[]'), '[]'),
    to(own, credentialOf(provider, '{"id":"x"}'), '{"id":"x"}'),
    () => post(`${base()}/v1/webhooks/${provider}/${own}/x`, body, good),
    () => post(`${base()}/v1/webhooks/${provider}/${own}`, body, good, 'PUT'),
    ...(signer.covers.time
      ? [
          // Signatures may be five minutes old. The time in the future has one minute more, because a slow machine may read it late.
          to(own, credentialOf(provider, body, Date.now() - 360_000)),
          to(own, credentialOf(provider, body, Date.now() + 360_000)),
        ]
      : []),
    ...(signer.covers.body ? [to(own, good, Buffer.concat([body, Buffer.from(' ')]))] : []),
  ]
}

describe('ingress on real Kafka, MongoDB and registry', () => {
  test.each(Providers.options)('makes an event of the %s durable as the registry describes it', async provider => {
    const answer = await postEvent(provider, eventOf(provider, 'evt_durable'))
    expect(answer.status).toBe(200)
    const messages = await parts.messagesOf(provider, all => eventIds(all).includes('evt_durable'))
    const message = messages.find(({ headers }) => headers.event_id === 'evt_durable')!
    const envelope = await codec.decode('inbound-event', message.value)
    expect(envelope).toMatchObject({
      provider,
      project_id: 'prj_test',
      connection_id: `con_${provider}`,
      event_id: 'evt_durable',
      body: eventOf(provider, 'evt_durable'),
    })
    expect(message.key).toMatch(/^prj_test\/(pi|txn|sub)_1$/)
    expect(message.headers).toMatchObject({
      event_type: envelope.event_type,
      received_at: String(Date.parse(envelope.received_at)),
      'x-message-id': expect.stringMatching(/^msg_/),
    })
  })

  test('accepts an event of 1 MiB', async () => {
    const event = { ...eventOf('processor', 'evt_megabyte'), fill: '' }
    const fill = 'é'.repeat((1_048_576 - Buffer.byteLength(JSON.stringify(event))) / 2)
    expect(await postEvent('processor', { ...event, fill })).toMatchObject({ status: 200 })
    const messages = await parts.messagesOf('processor', all => eventIds(all).includes('evt_megabyte'))
    const message = messages.find(({ headers }) => headers.event_id === 'evt_megabyte')!
    expect((await codec.decode('inbound-event', message.value)).body.fill).toBe(fill)
  })

  test('lets no unauthentic notification and no malformed event reach a topic', async () => {
    await parts.connections.insertOne(
      connectionDocument('con_deleted', 'processor', [SECRETS.processor], { status: 'deleted' }),
    )
    for (const provider of Providers.options) {
      const answers = await Promise.all(refusedRequests(provider).map(attack => attack()))
      for (const { status } of answers) expect([400, 401, 404, 405, 413, 415]).toContain(status)
      // A refused event would come before the sentinel, because each topic of a test has one partition.
      await postEvent(provider, withSubject(provider, 'evt_sentinel', 'subject_1'))
      const messages = await parts.messagesOf(provider, all => eventIds(all).includes('evt_sentinel'))
      const allowed = ['evt_durable', 'evt_megabyte', 'evt_sentinel']
      expect(eventIds(messages).filter(id => !allowed.includes(id!))).toEqual([])
    }
  })

  test('stores every event that it acknowledged, under load', async () => {
    const ids = Array.from({ length: 1_000 }, (_, at) => `evt_load_${at}`)
    // A machine that is slow enough answers too late, which acknowledges nothing.
    const answers = await Promise.allSettled(
      ids.map((id, at) => postEvent('reseller', withSubject('reseller', id, `load_${at % 50}`))),
    )
    const acknowledged = ids.filter((_, at) => {
      const answer = answers[at]
      return answer?.status === 'fulfilled' && answer.value.status === 200
    })
    expect(acknowledged.length).toBeGreaterThan(0)
    const messages = await parts.messagesOf('reseller', all => acknowledged.every(id => eventIds(all).includes(id)))
    expect(new Set(eventIds(messages))).toEqual(new Set([...eventIds(messages), ...acknowledged]))
  })

  test('gives one message id to an event that is posted three times', async () => {
    const event = eventOf('subscription', 'evt_thrice')
    for (let time = 0; time < 3; time += 1) expect((await postEvent('subscription', event)).status).toBe(200)
    const isSame = ({ headers }: IncomingMessage) => headers.event_id === 'evt_thrice'
    const messages = await parts.messagesOf('subscription', all => all.filter(isSame).length === 3)
    expect(new Set(messages.filter(isSame).map(({ headers }) => headers['x-message-id'])).size).toBe(1)
  })

  test('accepts events of a connection within two seconds of its creation, and none two seconds after its deletion', async () => {
    const soon = { promisedMs: 2_000 }
    await parts.connections.insertOne(connectionDocument('con_fresh', 'processor', [SECRETS.processor]))
    const isTaken = async () =>
      (await postEvent('processor', eventOf('processor', 'evt_fresh'), 'con_fresh')).status === 200
    await until('the new connection', isTaken, soon)
    await parts.connections.updateOne({ _id: 'con_fresh' }, { $set: { status: 'deleted' }, $inc: { version: 1 } })
    await until('its end', async () => !(await isTaken()), soon)
  })

  test('is alive and ready, and shows its metrics', async () => {
    expect((await ops('/healthz')).status).toBe(200)
    expect((await ops('/readyz')).status).toBe(200)
    const text = await (await ops('/metrics')).text()
    for (const name of [
      'ingress_webhooks_total',
      'ingress_rejected_total',
      'kafka_produce_duration_seconds',
      'nodejs_eventloop_lag_p99_seconds',
    ]) {
      expect(text).toContain(name)
    }
  })
})

describe('ingress with another key under the same id', () => {
  test('is not ready, says why, and answers authentic events 503', async () => {
    const SECRET_KEYS = `test:${Buffer.alloc(32, 8).toString('base64')}`
    const other = await startIngress({ ...parts.environment, SECRET_KEYS })
    try {
      const readiness = async () => await (await fetch(`http://127.0.0.1:${other.opsPort}/readyz`)).text()
      await until('its reason', async () =>
        /^SECRET_KEYS has another key under the id "test" than/.test(await readiness()),
      )
      for (const provider of Providers.options) {
        const body = JSON.stringify(eventOf(provider, 'evt_wrong_key'))
        const url = `http://127.0.0.1:${other.port}/v1/webhooks/${provider}/con_${provider}`
        expect(await post(url, body, credentialOf(provider, body))).toMatchObject({ status: 503 })
      }
    } finally {
      await other.stop()
    }
  })
})
