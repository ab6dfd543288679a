import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { pino } from 'pino'
import { afterEach, expect, test } from 'vitest'
import { readConfig } from '../config/config.ts'
import type { Environment } from '../index.ts'
import { openEgress } from './open-egress.ts'
import { egressSettings } from './settings.ts'

const logger = pino({ level: 'silent' })
const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

function open(environment: Environment) {
  const egress = openEgress(readConfig(egressSettings, environment), { logger })
  cleanUps.push(() => egress.stop())
  return egress
}

test('what a service calls goes through the proxy of its settings, with what that is to be told', async () => {
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
