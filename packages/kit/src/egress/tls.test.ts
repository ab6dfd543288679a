import { once } from 'node:events'
import { createSecureServer } from 'node:http2'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import tls from 'node:tls'
import { pino } from 'pino'
import { afterEach, describe, expect, test } from 'vitest'
import { startReceiver } from '../../test/receiver.ts'
import { createSelfSignedCertificate, trustCertificate } from '../../test/self-signed-certificate.ts'
import { startTunnelProxy } from '../../test/tunnel.ts'
import { createEgress, type Egress, type EgressOptions } from './egress.ts'
import { egressReason } from './failure.ts'

const local = { allowCidrs: ['127.0.0.0/8'], denyCidrs: [], logger: pino({ level: 'silent' }) }
const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

function createTestEgress(options: Partial<EgressOptions> = {}): Egress {
  const egress = createEgress({ ...local, ...options })
  cleanUps.push(() => egress.stop())
  return egress
}

async function listenOnFreePort(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanUps.push(() => server.close())
  return (server.address() as AddressInfo).port
}

/** Sends a GET to this port by name. Returns the status or the failure reason. */
const fetchStatus = (egress: Egress, port: number) =>
  egress
    .request({ url: `https://localhost:${port}/`, method: 'GET', headers: {} })
    .then(answer => answer.status, egressReason)

async function startTunnel(to: number): Promise<string> {
  const tunnel = await startTunnelProxy(to)
  cleanUps.push(() => tunnel.stop())
  return tunnel.url
}

/** The two ways in which undici creates TLS connections: direct, and through a proxy. */
const ways = [
  { way: 'directly', optionsTo: async (_port: number) => ({}) },
  { way: 'through a proxy', optionsTo: async (port: number) => ({ proxyUrl: await startTunnel(port) }) },
]

describe('a certificate', () => {
  const expired = { notBefore: new Date('2020-01-01'), notAfter: new Date('2020-02-01') }
  const early = { notBefore: new Date('2100-01-01'), notAfter: new Date('2100-02-01') }
  const rows = [
    { name: 'that is trusted, valid and for this name', host: 'localhost', trusted: true, outcome: 200 },
    { name: 'that nobody signed', host: 'localhost', trusted: false, outcome: 'tls_failed' },
    { name: 'that has expired', host: 'localhost', validity: expired, trusted: true, outcome: 'tls_failed' },
    { name: 'that is not yet valid', host: 'localhost', validity: early, trusted: true, outcome: 'tls_failed' },
    { name: 'for another name', host: 'other.example.com', trusted: true, outcome: 'tls_failed' },
  ].flatMap(row => ways.map(way => ({ ...row, ...way })))

  test.each(rows)('$name, met $way: $outcome', async ({ host, validity, trusted, outcome, optionsTo }) => {
    const certificate = createSelfSignedCertificate(host, validity)
    const receiver = await startReceiver(undefined, certificate)
    cleanUps.push(() => receiver.stop())
    if (trusted) cleanUps.push(trustCertificate(certificate))
    expect(await fetchStatus(createTestEgress(await optionsTo(receiver.port)), receiver.port)).toBe(outcome)
    expect(receiver.requests).toHaveLength(outcome === 200 ? 1 : 0)
  })

  test('of any kind is accepted only with the dangerous setting, which logs a warning at the start', async () => {
    const lines: string[] = []
    const logger = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) })
    const careless = createTestEgress({ logger, dangerouslySkipTlsVerification: true })
    const receiver = await startReceiver(undefined, createSelfSignedCertificate('localhost'))
    cleanUps.push(() => receiver.stop())
    expect(await fetchStatus(careless, receiver.port)).toBe(200)
    expect(lines.join()).toContain('Certificates of receivers are not verified')
    expect(lines.join()).toContain('networks that are not public')
  })
})

describe('the version of TLS', () => {
  const { DEFAULT_MIN_VERSION, DEFAULT_CIPHERS } = tls

  test.each(
    [
      { version: 'TLSv1.1', outcome: 'tls_failed' },
      { version: 'TLSv1.2', outcome: 200 },
      { version: 'TLSv1.3', outcome: 200 },
    ].flatMap(row => ways.map(way => ({ ...row, ...way }))),
  )(
    '$version, met $way, gives $outcome, however loose the defaults of Node',
    async ({ version, outcome, optionsTo }) => {
      // Like NODE_OPTIONS=--tls-min-v1.0, so that only the client's own minimum refuses the connection.
      tls.DEFAULT_MIN_VERSION = 'TLSv1'
      tls.DEFAULT_CIPHERS = 'ALL@SECLEVEL=0'
      cleanUps.push(() => Object.assign(tls, { DEFAULT_MIN_VERSION, DEFAULT_CIPHERS }))
      const certificate = createSelfSignedCertificate('localhost')
      cleanUps.push(trustCertificate(certificate))
      const only = { minVersion: version, maxVersion: version } as tls.SecureContextOptions
      const port = await listenOnFreePort(
        createHttpsServer({ ...certificate, ...only }, (_request, response) => void response.end('ok')),
      )
      const socket = tls.connect({ port, host: '127.0.0.1', servername: 'localhost' })
      await once(socket, 'secureConnect')
      expect(socket.getProtocol()).toBe(version)
      socket.destroy()
      expect(await fetchStatus(createTestEgress(await optionsTo(port)), port)).toBe(outcome)
    },
  )
})

test.each(ways)('HTTP/2 is not spoken $way, though the receiver offers it', async ({ optionsTo }) => {
  const certificate = createSelfSignedCertificate('localhost')
  cleanUps.push(trustCertificate(certificate))
  const versions: string[] = []
  const port = await listenOnFreePort(
    createSecureServer({ ...certificate, allowHTTP1: true }, (request, response) => {
      versions.push(request.httpVersion)
      response.end('ok')
    }),
  )
  expect(await fetchStatus(createTestEgress(await optionsTo(port)), port)).toBe(200)
  expect(versions).toEqual(['1.1'])
})
