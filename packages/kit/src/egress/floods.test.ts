/**
 * Limits how much data a hostile receiver can make this client read: real servers on loopback, with and without TLS.
 */
import { pino } from 'pino'
import { afterEach, describe, expect, test } from 'vitest'
import {
  FLOODS,
  type Flood,
  type FloodingReceiver,
  startFloodingReceiver,
  startRenegotiatingReceiver,
} from '../../test/flooding-receiver.ts'
import { startReceiver } from '../../test/receiver.ts'
import { createSelfSignedCertificate, trustCertificate } from '../../test/self-signed-certificate.ts'
import { startTunnelProxy } from '../../test/tunnel.ts'
import { createEgress, type EgressOptions } from './egress.ts'
import { egressReason } from './failure.ts'

/** Upper limit of the bytes sent: the maximum that is read for a webhook, plus the kernel's buffers on both sides. */
const MOST_SENT_BYTES = 16 * 1_048_576
const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

function createTestEgress(options: Partial<EgressOptions> = {}) {
  const egress = createEgress({
    allowCidrs: ['127.0.0.0/8'],
    denyCidrs: [],
    logger: pino({ level: 'silent' }),
    ...options,
  })
  cleanUps.push(() => egress.stop())
  return egress
}

const trustedCertificate = () => {
  const certificate = createSelfSignedCertificate('localhost')
  cleanUps.push(trustCertificate(certificate))
  return certificate
}

/**
 * Posts to the receiver with a time limit of 10 s. @returns the status, or the failure reason with the number of bytes
 * that the receiver sent
 */
async function postTo(
  receiver: FloodingReceiver,
  scheme: string,
  options: Partial<EgressOptions> & { partialBody?: 'accept' } = {},
) {
  cleanUps.push(() => receiver.stop())
  const { partialBody, ...egressOptions } = options
  const outcome = await createTestEgress(egressOptions)
    .request({
      url: `${scheme}://localhost:${receiver.port}/`,
      method: 'POST',
      headers: {},
      body: 'x',
      timeoutMs: 10_000,
      ...(partialBody === undefined ? {} : { partialBody }),
    })
    .then(answer => answer.status, egressReason)
  return { outcome, sentBytes: receiver.sentBytes() }
}

const ROWS: readonly { flood: Flood; reason: string }[] = [
  { flood: FLOODS.chunkExtension, reason: 'raw_response_too_large' },
  { flood: FLOODS.chunkExtensions, reason: 'raw_response_too_large' },
  { flood: FLOODS.interimResponses, reason: 'too_many_interim_responses' },
  { flood: FLOODS.largeInterimResponses, reason: 'too_many_interim_responses' },
  { flood: FLOODS.continues, reason: 'response_invalid' },
  { flood: FLOODS.reasonPhrase, reason: 'raw_response_too_large' },
  { flood: FLOODS.headers, reason: 'response_headers_too_large' },
  { flood: FLOODS.trailers, reason: 'response_headers_too_large' },
]

describe.each(['http', 'https'])('by %s, a flood', scheme => {
  test.each(ROWS)('of $flood.name is cut early as $reason', async ({ flood, reason }) => {
    const receiver = await startFloodingReceiver(flood, scheme === 'https' ? trustedCertificate() : undefined)
    const { outcome, sentBytes } = await postTo(receiver, scheme)
    expect(outcome).toBe(reason)
    expect(sentBytes).toBeLessThan(MOST_SENT_BYTES)
  })

  test('of chunk extensions through a proxy is cut as early', async () => {
    const receiver = await startFloodingReceiver(
      FLOODS.chunkExtension,
      scheme === 'https' ? trustedCertificate() : undefined,
    )
    const tunnel = await startTunnelProxy(receiver.port)
    cleanUps.push(() => tunnel.stop())
    const { outcome, sentBytes } = await postTo(receiver, scheme, { proxyUrl: tunnel.url })
    expect(outcome).toBe('raw_response_too_large')
    expect(sentBytes).toBeLessThan(MOST_SENT_BYTES)
  })

  test('after the status is worth the status to a caller who lives by it', async () => {
    const receiver = await startFloodingReceiver(
      FLOODS.chunkExtensions,
      scheme === 'https' ? trustedCertificate() : undefined,
    )
    const { outcome, sentBytes } = await postTo(receiver, scheme, { partialBody: 'accept' })
    expect(outcome).toBe(200)
    expect(sentBytes).toBeLessThan(MOST_SENT_BYTES)
  })
})

test('a flood of TLS renegotiations is cut as raw_response_too_large', async () => {
  const { outcome } = await postTo(await startRenegotiatingReceiver(trustedCertificate()), 'https')
  expect(outcome).toBe('raw_response_too_large')
})

describe('what is no flood is read whole', () => {
  test.each(['http', 'https'])('by %s: a body of the largest size in small chunks', async scheme => {
    const receiver = await startReceiver(
      (_request, response) => {
        for (let sent = 0; sent < 65_536; sent += 16) response.write('0123456789abcdef')
        response.end()
      },
      scheme === 'https' ? trustedCertificate() : undefined,
    )
    cleanUps.push(() => receiver.stop())
    const url = `${scheme}://localhost:${receiver.port}/`
    const { body, complete } = await createTestEgress().request({ url, method: 'GET', headers: {} })
    expect([body.length, complete]).toEqual([65_536, true])
  })

  test('a hundred answers of the largest size on connections that are kept', async () => {
    const receiver = await startReceiver((_request, response) => void response.end(Buffer.alloc(65_536)))
    cleanUps.push(() => receiver.stop())
    const egress = createTestEgress()
    for (let sent = 0; sent < 100; sent++) {
      expect((await egress.request({ url: receiver.url, method: 'GET', headers: {} })).complete).toBe(true)
    }
    expect(receiver.connections.accepted).toBeLessThan(10)
  })

  test('an answer after a few interim responses', async () => {
    const receiver = await startReceiver((_request, response) => {
      for (let said = 0; said < 5; said++) response.writeProcessing()
      response.writeHead(204).end()
    })
    cleanUps.push(() => receiver.stop())
    expect((await createTestEgress().request({ url: receiver.url, method: 'GET', headers: {} })).status).toBe(204)
  })
})
