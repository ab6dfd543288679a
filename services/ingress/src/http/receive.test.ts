import { type ProviderKind, ProviderKind as Providers } from '@backstop/contracts'
import { createFixedCodec } from '@backstop/kit/test'
import { SIGNERS } from '@backstop/providers/test'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectionDocument } from '../../test/connection-documents.ts'
import { parseAnswer, post, rawExchange } from '../../test/http-client.ts'
import { credentialOf, eventOf, type MemoryIngress, SECRETS, startMemoryIngress } from '../../test/memory-ingress.ts'

let ingress: MemoryIngress
beforeAll(async () => {
  ingress = await startMemoryIngress()
})
afterAll(() => ingress.stop())

const urlOf = (provider: ProviderKind, id = `con_${provider}`) => `${ingress.base}/v1/webhooks/${provider}/${id}`
const stored = (provider: ProviderKind) => ingress.bus.stored(`inbound.${provider}`)
const last = (provider: ProviderKind) => stored(provider).at(-1)!

describe('an authentic event', () => {
  test.each(Providers.options)('of the %s is stored whole and then acknowledged', async provider => {
    const answer = await ingress.postEvent(provider, 'evt_1')
    expect(answer).toMatchObject({ status: 200, headers: { 'content-type': 'application/json' } })
    expect(JSON.parse(answer.body)).toEqual({ received: true, event_id: 'evt_1' })

    const message = last(provider)
    expect(message.headers).toMatchObject({ event_id: 'evt_1', 'x-message-id': expect.stringMatching(/^msg_/) })
    expect(await createFixedCodec().decode('inbound-event', message.value)).toMatchObject({
      provider,
      project_id: 'prj_test',
      connection_id: `con_${provider}`,
      event_id: 'evt_1',
      body: eventOf(provider, 'evt_1'),
    })
  })

  test('of the processor may be thin, and a thin one must be signed too', async () => {
    const event = {
      ...{ id: 'evt_65', object: 'v2.core.event', type: 'v1.refund.created', livemode: true, context: null },
      ...{
        created: '2026-03-01T12:00:00.000Z',
        related_object: { id: 're_1', type: 'refund', url: '/v1/refunds/re_1' },
      },
    }
    const body = JSON.stringify(event)
    const answer = await post(urlOf('processor'), body, credentialOf('processor', body))
    expect({ status: answer.status, body: JSON.parse(answer.body) }).toEqual({
      status: 200,
      body: { received: true, event_id: 'evt_65' },
    })
    expect(last('processor').headers).toMatchObject({ event_id: 'evt_65', event_type: 'v1.refund.created' })
    expect(await createFixedCodec().decode('inbound-event', last('processor').value)).toMatchObject({ body: event })

    const before = stored('processor').length
    expect(await post(urlOf('processor'), body, credentialOf('processor', `${body} `))).toMatchObject({ status: 400 })
    expect(stored('processor')).toHaveLength(before)
  })

  test('posted again is acknowledged again, under the same message id', async () => {
    const before = stored('processor').length
    const answers = [
      await ingress.postEvent('processor', 'evt_twice'),
      await ingress.postEvent('processor', 'evt_twice'),
    ]
    expect(answers.map(({ status, body }) => [status, body])).toEqual([
      [200, answers[0]?.body],
      [200, answers[0]?.body],
    ])
    const ids = stored('processor')
      .slice(before)
      .map(({ headers }) => headers['x-message-id'])
    expect(ids).toEqual([ids[0], ids[0]])
  })

  test.each([
    { provider: 'processor', alias: 'stripe-signature' },
    { provider: 'reseller', alias: 'paddle-signature' },
    { provider: 'processor', alias: 'Processor-Signature' },
  ] as const)('of the $provider may be signed in $alias', async ({ provider, alias }) => {
    const body = JSON.stringify(eventOf(provider, 'evt_alias'))
    const [value] = Object.values(credentialOf(provider, body))
    expect(await post(urlOf(provider), body, { [alias]: value })).toMatchObject({ status: 200 })
  })

  test.each([
    { name: 'no content type', headers: {} },
    { name: 'a foreign content type', headers: { 'content-type': 'text/plain; charset=latin1' } },
    { name: 'Content-Encoding: identity', headers: { 'content-encoding': 'Identity' } },
  ])('is accepted with $name', async ({ headers }) => {
    const body = JSON.stringify(eventOf('processor', 'evt_headers'))
    expect(await post(urlOf('processor'), body, { ...credentialOf('processor', body), ...headers })).toMatchObject({
      status: 200,
    })
  })

  test('may come in chunks that cut characters, and is stored byte for byte', async () => {
    const body = Buffer.from(`  ${JSON.stringify({ ...eventOf('processor', 'evt_chunks'), note: 'café 😀' })}\n`)
    const parts = Array.from(body, byte => Buffer.from([byte]))
    expect(await post(urlOf('processor'), parts, credentialOf('processor', body))).toMatchObject({ status: 200 })
    expect(last('processor').value?.includes(body)).toBe(true)
  })

  test('may have exactly 1048576 bytes', async () => {
    const event = { ...eventOf('processor', 'evt_large'), fill: '' }
    const fill = 'x'.repeat(1_048_576 - Buffer.byteLength(JSON.stringify(event)))
    const body = JSON.stringify({ ...event, fill })
    expect(Buffer.byteLength(body)).toBe(1_048_576)
    expect(await post(urlOf('processor'), body, credentialOf('processor', body))).toMatchObject({ status: 200 })
  })

  test('may be signed with a secret that is being rotated out, and log and metric say so', async () => {
    const counted = async () =>
      /^ingress_old_secret_total\{.*provider="processor".*\} (\d+)/m.exec(await ingress.metrics())
    expect(await counted()).toBeNull()
    const until = new Date(Date.now() + 3_600_000)
    ingress.connections.save(
      connectionDocument('con_rotated', 'processor', [
        'whsec_the-newer-one',
        { secret: SECRETS.processor, expiresAt: until },
      ]),
    )
    const body = JSON.stringify(eventOf('processor', 'evt_rotated'))
    expect(await post(urlOf('processor', 'con_rotated'), body, credentialOf('processor', body))).toMatchObject({
      status: 200,
    })
    expect(ingress.lines.at(-1)).toMatchObject({ msg: 'event.ingested', secret_index: 1 })
    const current = {
      'processor-signature': SIGNERS.processor.sign(Buffer.from(body), ['whsec_the-newer-one'], Date.now()),
    }
    expect(await post(urlOf('processor', 'con_rotated'), body, current)).toMatchObject({ status: 200 })
    expect((await counted())?.[1]).toBe('1')
  })

  test('counts as signed with an old secret if that secret expires, even if it is the first readable secret', async () => {
    const counted = async () =>
      Number(/^ingress_old_secret_total\{.*provider="processor".*\} (\d+)/m.exec(await ingress.metrics())?.[1] ?? 0)
    const before = await counted()
    const ends = { secret: SECRETS.processor, expiresAt: new Date(Date.now() + 3_600_000) }
    ingress.connections.save(connectionDocument('con_ending', 'processor', [ends]))
    ingress.connections.save(connectionDocument('con_lasting', 'processor', ['whsec_another', SECRETS.processor]))
    const body = JSON.stringify(eventOf('processor', 'evt_ending'))
    await post(urlOf('processor', 'con_lasting'), body, credentialOf('processor', body))
    expect(await counted()).toBe(before)
    expect(ingress.lines.at(-1)).not.toHaveProperty('old_secret')
    await post(urlOf('processor', 'con_ending'), body, credentialOf('processor', body))
    expect(await counted()).toBe(before + 1)
    expect(ingress.lines.at(-1)).toMatchObject({ connection_id: 'con_ending', secret_index: 0, old_secret: true })
  })

  test('is published without a trace while traces are off, also if its sender has one', async () => {
    const body = JSON.stringify(eventOf('processor', 'evt_trace'))
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    await post(urlOf('processor'), body, { ...credentialOf('processor', body), traceparent })
    expect(last('processor').headers).not.toHaveProperty('traceparent')
    expect(ingress.lines.at(-1)).not.toHaveProperty('trace_id')
  })

  test('is accepted with "100 Continue" before its body is sent', async () => {
    const body = JSON.stringify(eventOf('processor', 'evt_continue'))
    const head = [
      'POST /v1/webhooks/processor/con_processor HTTP/1.1',
      'host: localhost',
      'expect: 100-continue',
      'connection: close',
      `content-length: ${body.length}`,
      `processor-signature: ${SIGNERS.processor.sign(Buffer.from(body), [SECRETS.processor], Date.now())}`,
      '\r\n',
    ].join('\r\n')
    const raw = await rawExchange(ingress.app.port(), [head, 50, body])
    const [first, ...rest] = raw.split('\r\n\r\n')
    expect(first).toBe('HTTP/1.1 100 Continue')
    expect(parseAnswer(rest.join('\r\n\r\n'))).toMatchObject({ status: 200 })
  })

  test('leaves one log line, with ids and sizes, and no body, header or secret', async () => {
    const before = ingress.lines.length
    const body = JSON.stringify({ ...eventOf('subscription', 'evt_log'), canary: 'canary-of-the-body' })
    await post(urlOf('subscription'), body, credentialOf('subscription', body))
    const lines = ingress.lines.slice(before)
    expect(lines).toEqual([
      expect.objectContaining({
        msg: 'event.ingested',
        level: 'info',
        provider: 'subscription',
        connection_id: 'con_subscription',
        project_id: 'prj_test',
        event_id: 'evt_log',
        event_type: 'payment_refunded',
        subject: 'sub_1',
        status: 200,
        body_bytes: Buffer.byteLength(body),
        duration_ms: expect.any(Number),
      }),
    ])
    expect(JSON.stringify(lines)).not.toMatch(/canary|Basic|password-of/)
  })

  test('is counted by provider and result, and timed', async () => {
    const text = await ingress.metrics()
    expect(text).toMatch(/^ingress_webhooks_total\{.*provider="processor".*result="received".*\} [1-9]/m)
    expect(text).toMatch(
      /^http_server_request_duration_seconds_count\{.*method="POST",route="\/v1\/webhooks\/reseller\/\{connection_id\}",status="200".*\} [1-9]/m,
    )
    expect(text).toMatch(/^kafka_produce_duration_seconds_count\{.*outcome="acknowledged".*\} [1-9]/m)
    expect(text).toMatch(/^ingress_connections\{.*\} [1-9]/m)
    expect(text).not.toContain('con_')
  })
})
