import { connect } from 'node:net'
import { Problem, ProviderKind as Providers } from '@backstop/contracts'
import { until } from '@backstop/kit/test'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectProblem } from '../../test/expect-problem.ts'
import { parseAnswer, post, rawExchange } from '../../test/http-client.ts'
import { credentialOf, eventOf, type MemoryIngress, startMemoryIngress } from '../../test/memory-ingress.ts'

let ingress: MemoryIngress
beforeAll(async () => {
  ingress = await startMemoryIngress({ settings: { bodyTimeoutMs: 300 } })
})
afterAll(() => ingress.stop())

const urlOf = (path: string) => `${ingress.base}/v1/webhooks/${path}`

describe('a request that is no notification', () => {
  test.each([
    '/',
    '/v1/webhooks/processor',
    '/v1/webhooks/paypal/con_1',
    '/v1/webhooks/processor/con_processor/x',
    '/metrics',
  ])('is not found at %s', async path => {
    expectProblem(await post(ingress.base + path, '{}'), 404, 'not_found')
  })

  test.each(['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('is not allowed by %s', async method => {
    const answer = await post(urlOf('processor/con_processor'), '', {}, method)
    expectProblem(answer, 405, 'method_not_allowed')
    expect(answer.headers.allow).toBe('POST')
  })

  test('is answered by HEAD without a body', async () => {
    expect(await post(urlOf('processor/con_processor'), '', {}, 'HEAD')).toMatchObject({ status: 405, body: '' })
  })

  test.each(['gzip', 'br', 'identity, gzip', 'unknown'])('is refused with Content-Encoding %s', async encoding => {
    const body = JSON.stringify(eventOf('processor', 'evt_gzip'))
    const headers = { ...credentialOf('processor', body), 'content-encoding': encoding }
    expectProblem(await post(urlOf('processor/con_processor'), body, headers), 415, 'unsupported_encoding')
  })

  test('is refused if its headers are too large', async () => {
    const { status, body } = parseAnswer(
      await rawExchange(ingress.app.port(), [`POST / HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`]),
    )
    expect(status).toBe(431)
    expect(Problem.parse(JSON.parse(body)).code).toBe('headers_too_large')
  })

  test('is refused if it has too many headers', async () => {
    const many = Array.from({ length: 120 }, (_, i) => `x-${i}: y\r\n`).join('')
    const { status, body } = parseAnswer(
      await rawExchange(ingress.app.port(), [`POST / HTTP/1.1\r\nhost: x\r\n${many}\r\n`]),
    )
    expect(status).toBe(431)
    expect(Problem.parse(JSON.parse(body)).detail).toContain('at most 100 headers')
  })

  test('is refused if it names no host', async () => {
    const raw = 'POST /v1/webhooks/processor/con_processor HTTP/1.1\r\nconnection: close\r\n\r\n'
    const { status, body } = parseAnswer(await rawExchange(ingress.app.port(), [raw]))
    expect(status).toBe(400)
    expect(Problem.parse(JSON.parse(body))).toMatchObject({
      code: 'invalid_request',
      detail: expect.stringContaining('Host'),
    })
  })

  test.each([
    { name: 'no HTTP', raw: 'hello\r\n\r\n' },
    {
      name: 'both lengths (request smuggling)',
      raw: 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    },
    {
      name: 'a chunk that is none',
      raw: 'POST /v1/webhooks/processor/con_processor HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
    },
    { name: 'a line break in a header', raw: 'POST / HTTP/1.1\r\nhost: x\r\nx: a\nb\r\n\r\n' },
  ])('is told that it is no valid HTTP: $name', async ({ raw }) => {
    const { status, body } = parseAnswer(await rawExchange(ingress.app.port(), [raw]))
    expect(status).toBe(400)
    expect(Problem.parse(JSON.parse(body)).code).toBe('invalid_request')
  })
})

describe('a body that is too large', () => {
  const MiB = 1_048_576
  test.each(Providers.options)('is refused at the %s by its announced length', async provider => {
    expectProblem(
      await post(urlOf(`${provider}/con_${provider}`), Buffer.alloc(MiB + 1), credentialOf(provider, '')),
      413,
      'payload_too_large',
    )
  })

  test.each(Providers.options)(
    'is refused at the %s when too many bytes arrive, and the client sees the answer',
    async provider => {
      const parts = Array.from({ length: 40 }, () => Buffer.alloc(65_536, 0x20))
      expectProblem(
        await post(urlOf(`${provider}/con_${provider}`), parts, credentialOf(provider, '')),
        413,
        'payload_too_large',
      )
    },
  )

  test('is refused before "100 Continue" is sent', async () => {
    const head = `POST /v1/webhooks/processor/con_processor HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: ${MiB + 1}\r\n\r\n`
    expect(parseAnswer(await rawExchange(ingress.app.port(), [head]))).toMatchObject({ status: 413 })
  })

  test('is cut off if it never ends', async () => {
    const part = Buffer.alloc(1_000_000, 0x20)
    const head = 'POST /v1/webhooks/processor/con_processor HTTP/1.1\r\nhost: x\r\ncontent-length: 99999999\r\n\r\n'
    const raw = await rawExchange(ingress.app.port(), [head, ...Array.from({ length: 20 }, () => part)])
    expect(parseAnswer(raw)).toMatchObject({ status: 413 })
  })

  test('leaves the memory budget empty', async () => {
    expect(await ingress.metrics()).toMatch(/^ingress_body_bytes\{.*\} 0$/m)
  })
})

describe('a slow or disconnected client', () => {
  const head = (length: number) =>
    `POST /v1/webhooks/processor/con_processor HTTP/1.1\r\nhost: x\r\ncontent-length: ${length}\r\n\r\n`

  test('is cut off with 408 if its body does not arrive in time', async () => {
    const { status, head: answer, body } = parseAnswer(await rawExchange(ingress.app.port(), [head(100), '{"id"']))
    expect(status).toBe(408)
    expect(answer.toLowerCase()).toContain('connection: close')
    expect(Problem.parse(JSON.parse(body)).code).toBe('request_timeout')
  })

  test('is logged if it disconnects in the middle of its body', async () => {
    const before = ingress.lines.length
    const socket = connect(ingress.app.port(), '127.0.0.1', () => socket.write(`${head(100)}{"id"`))
    setTimeout(() => socket.destroy(), 50)
    await until('the line of the lost request', () => ingress.lines.length > before)
    expect(ingress.lines.slice(before)).toEqual([
      expect.objectContaining({ msg: 'event.refused', reason: 'body_broken_off', connection_id: 'con_processor' }),
    ])
    expect(await ingress.metrics()).toMatch(/^ingress_body_bytes\{.*\} 0$/m)
  })
})
