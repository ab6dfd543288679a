import type { RunningService } from '@backstop/kit/service'
import { patient, startTcpProxy, type TcpProxy, until } from '@backstop/kit/test'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { connectionDocument } from '../test/connection-documents.ts'
import { expectProblem } from '../test/expect-problem.ts'
import { post } from '../test/http-client.ts'
import { credentialOf, eventOf, type MemoryIngress, SECRETS, startMemoryIngress } from '../test/memory-ingress.ts'
import { type ProvisionedStack, provisionStack } from '../test/real-ingress.ts'
import { startIngress } from './start.ts'

/** The promised 3 s, and the time of a busy machine for the answer itself. */
const ANSWERED_WITHIN_MS = 4_500

let parts: ProvisionedStack
beforeAll(async () => {
  parts = await provisionStack()
})
afterAll(() => parts.close())

const addressOf = (hostAndPort: string) => {
  const [host, port] = hostAndPort.split(':') as [string, string]
  return { host, port: Number(port) }
}
/** Makes the call and measures its duration in milliseconds. */
async function measureDuration<T>(call: () => Promise<T>): Promise<{ result: T; tookMs: number }> {
  const began = performance.now()
  const result = await call()
  return { result, tookMs: performance.now() - began }
}

describe('ingress without Kafka', () => {
  let proxy: TcpProxy
  let ingress: MemoryIngress
  beforeAll(async () => {
    proxy = await startTcpProxy(addressOf(parts.stack.kafkaBrokers[0]!))
    // The broker advertises its own address, so addresses are translated to keep every connection on the proxy.
    const bus = parts.stack.bus({ translateAddress: () => proxy.address })
    ingress = await startMemoryIngress({ ports: { bus } })
  })
  afterAll(async () => {
    proxy.mode = 'pass'
    await ingress.stop()
    await proxy.stop()
  })

  afterEach(() => {
    proxy.mode = 'pass'
  })

  test.each(['refuse', 'black_hole'] as const)(
    'answers 503 with Retry-After within 3 s, then at once, and recovers without a restart (%s)',
    async mode => {
      const before = () => ingress.postEvent('processor', `evt_before_${mode}`)
      await until('a usable Kafka', async () => (await before()).status === 200)
      proxy.mode = mode
      if (mode === 'refuse') proxy.cutAll()
      const first = await measureDuration(() => ingress.postEvent('processor', `evt_lost_${mode}`))
      expectProblem(first.result, 503, 'unavailable', '30')
      expect(first.tookMs).toBeLessThan(ANSWERED_WITHIN_MS)
      // Most requests are refused at once. One request per half second is let through as a probe of Kafka.
      const next = await Promise.all(
        Array.from({ length: 20 }, () => measureDuration(() => ingress.postEvent('processor', `evt_lost_${mode}`))),
      )
      for (const { result, tookMs } of next) {
        expectProblem(result, 503, 'unavailable', '30')
        expect(tookMs).toBeLessThan(ANSWERED_WITHIN_MS)
      }
      expect(next.filter(({ tookMs }) => tookMs < patient(500)).length).toBeGreaterThanOrEqual(19)
      expect(ingress.app.unready()).toBeUndefined()

      proxy.mode = 'pass'
      if (mode === 'black_hole') proxy.cutAll()
      await until('an acknowledged event', async () => {
        return (await ingress.postEvent('processor', `evt_after_${mode}`)).status === 200
      })
      const ids = (
        await parts.messagesOf('processor', all => all.some(({ headers }) => headers.event_id === `evt_after_${mode}`))
      ).map(({ headers }) => headers.event_id)
      expect(ids).toContain(`evt_before_${mode}`)
    },
  )
})

describe('ingress without MongoDB', () => {
  let proxy: TcpProxy
  const running: RunningService[] = []
  const start = async () => {
    const MONGO_URL = `mongodb://${proxy.address.host}:${proxy.address.port}/?directConnection=true`
    const ingress = await startIngress({ ...parts.environment, MONGO_URL })
    running.push(ingress)
    return ingress
  }
  const postTo = (ingress: RunningService, id: string, connection = 'con_processor') => {
    const body = JSON.stringify(eventOf('processor', id))
    return post(
      `http://127.0.0.1:${ingress.port}/v1/webhooks/processor/${connection}`,
      body,
      credentialOf('processor', body),
    )
  }
  const readiness = async (ingress: RunningService) =>
    (await fetch(`http://127.0.0.1:${ingress.opsPort}/readyz`)).status
  beforeAll(async () => {
    proxy = await startTcpProxy(addressOf(new URL(parts.stack.mongoUrl.reveal()).host))
  })
  afterAll(async () => {
    proxy.mode = 'pass'
    await Promise.all(running.map(ingress => ingress.stop()))
    await proxy.stop()
  })

  test('accepts events of known connections, answers 503 if it never loaded any, and recovers in both cases without a restart', async () => {
    const warm = await start()
    await until('readiness', async () => (await readiness(warm)) === 200)

    proxy.mode = 'refuse'
    proxy.cutAll()
    expect(await postTo(warm, 'evt_warm')).toMatchObject({ status: 200 })
    expect(await readiness(warm)).toBe(200)

    const cold = await start()
    expectProblem(await postTo(cold, 'evt_cold'), 503, 'unavailable', '30')
    expect(await readiness(cold)).toBe(503)
    expect((await fetch(`http://127.0.0.1:${cold.opsPort}/healthz`)).status).toBe(200)
    await parts.connections.insertOne(connectionDocument('con_meanwhile', 'processor', [SECRETS.processor]))
    expectProblem(await postTo(warm, 'evt_unknown', 'con_meanwhile'), 400, 'signature_rejected')

    proxy.mode = 'pass'
    for (const ingress of [warm, cold]) {
      await until('the new connection', async () => (await postTo(ingress, 'evt_back', 'con_meanwhile')).status === 200)
      expect(await postTo(ingress, 'evt_again')).toMatchObject({ status: 200 })
      expect(await readiness(ingress)).toBe(200)
    }
  })
})
