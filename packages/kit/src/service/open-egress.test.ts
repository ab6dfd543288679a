import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { pino } from 'pino'
import { afterEach, expect, test } from 'vitest'
import { startReceiver } from '../../test/receiver.ts'
import { createSelfSignedCertificate } from '../../test/self-signed-certificate.ts'
import { type Environment, readConfig } from '../config/config.ts'
import { createMetrics } from '../ops/metrics.ts'
import { type EgressConfig, openEgress } from './open-egress.ts'
import { egressSettings } from './settings.ts'

const logger = pino({ level: 'silent' })
const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

function open(environment: Environment, more: Partial<EgressConfig> = {}, metrics = createMetrics('test')) {
  const egress = openEgress({ ...readConfig(egressSettings, environment), OPS_PORT: 0, ...more }, { logger, metrics })
  cleanUps.push(() => egress.stop())
  return egress
}

test('requests of a service use the proxy of its settings with its credentials', async () => {
  const heard: string[] = []
  const proxy = createServer(socket => {
    socket.on('error', () => {})
    socket.once('data', head => {
      heard.push(head.toString())
      socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n')
    })
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  cleanUps.push(() => proxy.close())
  const { port } = proxy.address() as AddressInfo
  const egress = open({ EGRESS_PROXY_URL: `http://me:word@127.0.0.1:${port}` })
  const asked = egress.request({ url: 'https://93.184.215.14/', method: 'GET', headers: {} })
  await expect(asked).rejects.toMatchObject({ details: { reason: 'proxy_failed' } })
  expect(heard[0]).toMatch(/^CONNECT 93\.184\.215\.14:443 /)
  expect(heard[0]).toContain(Buffer.from('me:word').toString('base64'))
})

test('without settings only public addresses may be reached', () => {
  expect(open({}).checkUrl('http://127.0.0.1/')?.code).toBe('egress_blocked')
  expect(open({ EGRESS_ALLOW_CIDRS: '127.0.0.0/8' }).checkUrl('http://127.0.0.1/')).toBeUndefined()
  expect(open({ EGRESS_DENY_CIDRS: '93.184.215.0/24' }).checkUrl('https://93.184.215.14/')?.code).toBe('egress_blocked')
})

test.each(['proxy.example.com:3128', 'socks5://me:canary@proxy.example.com', 'http://me:canary@'])(
  'a proxy that is written %s is refused at the start, and not shown',
  url => {
    expect(() => open({ EGRESS_PROXY_URL: url })).toThrow(/EGRESS_PROXY_URL: Give http:\/\//)
    expect(() => open({ EGRESS_PROXY_URL: url })).not.toThrow(/canary/)
  },
)

test.each([
  { name: 'nothing', environment: {}, more: {}, allowed: 0, unverified: 0 },
  { name: 'a private network', environment: { EGRESS_ALLOW_CIDRS: '10.0.0.0/8' }, more: {}, allowed: 1, unverified: 0 },
  {
    name: 'the certificates',
    environment: {},
    more: { EGRESS_DANGEROUSLY_SKIP_TLS_VERIFICATION: true },
    allowed: 0,
    unverified: 1,
  },
])('a metric shows, as long as the process runs, that the operator opened up $name', async row => {
  const metrics = createMetrics('test')
  open(row.environment, row.more, metrics)
  const text = await metrics.text()
  expect(text).toContain(`egress_risks{risk="private_networks_allowed",service="test"} ${row.allowed}`)
  expect(text).toContain(`egress_risks{risk="tls_not_verified",service="test"} ${row.unverified}`)
})

test('the dangerous switch is what lets a certificate pass that nobody signed', async () => {
  const receiver = await startReceiver(undefined, createSelfSignedCertificate('localhost'))
  cleanUps.push(() => receiver.stop())
  const request = { url: receiver.url, method: 'GET', headers: {} } as const
  const allowed = { EGRESS_ALLOW_CIDRS: '127.0.0.0/8' }
  await expect(open(allowed).request(request)).rejects.toMatchObject({ details: { reason: 'tls_failed' } })
  const careless = open(allowed, { EGRESS_DANGEROUSLY_SKIP_TLS_VERIFICATION: true })
  expect((await careless.request(request)).status).toBe(200)
})

test('the ports of the service itself are out of reach, whatever networks are allowed', async () => {
  const ops = await startReceiver()
  const port = Number(new URL(ops.url).port)
  cleanUps.push(() => ops.stop())
  const ask = (more: Partial<EgressConfig>) =>
    open({ EGRESS_ALLOW_CIDRS: '127.0.0.0/8' }, more).request({ url: ops.url, method: 'GET', headers: {} })
  await expect(ask({ OPS_PORT: port })).rejects.toMatchObject({ code: 'egress_blocked' })
  await expect(ask({ PORT: port })).rejects.toMatchObject({ code: 'egress_blocked' })
  expect(ops.connections.accepted).toBe(0)
  expect((await ask({ PORT: port + 1 })).status).toBe(200)
})
