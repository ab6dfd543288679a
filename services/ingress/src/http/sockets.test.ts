/** Connections of one client must not keep out other clients. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { createNetworkMatcher } from '@backstop/kit/egress'
import { until } from '@backstop/kit/test'
import { afterEach, expect, test } from 'vitest'
import { credentialOf, eventOf, type MemoryIngress, SETTINGS, startMemoryIngress } from '../../test/memory-ingress.ts'

let ingress: MemoryIngress
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await ingress.stop()
})

const start = (changed: Partial<typeof SETTINGS.sockets>) =>
  startMemoryIngress({ settings: { sockets: { ...SETTINGS.sockets, ...changed } } })

async function dial(text = ''): Promise<Socket> {
  const socket = connect(ingress.app.port(), '127.0.0.1')
  sockets.push(socket)
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(text)
  return socket
}

/** A request whose body never arrives completely. */
const slowRequest = (headers = '') =>
  `POST /v1/webhooks/processor/con_processor HTTP/1.1\r\nhost: x\r\n${headers}content-length: 100\r\n\r\n{`

test('an event is received despite more silent connections than the limit, and the dropped ones are counted', async () => {
  ingress = await start({ maxSockets: 50 })
  for (let opened = 0; opened < 120; opened++) await dial()
  expect(await ingress.postEvent('processor', 'evt_beside')).toMatchObject({ status: 200 })
  expect(await ingress.metrics()).toMatch(
    /^http_sockets_dropped_total\{reason="evicted_unused",limit="server",service="ingress"\} (7\d|8\d)$/m,
  )
})

test('an event is received despite the maximum of slow requests from the same address', async () => {
  ingress = await start({ maxPerAddress: 20 })
  for (let opened = 0; opened < 20; opened++) await dial(slowRequest())
  // Each of the 20 requests has sent one byte of its body.
  await until('all are at work', async () => /^ingress_body_bytes\{.*\} 20$/m.test(await ingress.metrics()))
  const received = async () => (await ingress.postEvent('processor', 'evt_slow').catch(() => undefined))?.status === 200
  await until('the event is received', received, { timeoutMs: 5_000 })
  expect(await ingress.metrics()).toMatch(/reason="evicted_slow_request",limit="address"/)
})

test('a client behind a trusted proxy with too many requests in flight is refused with 503, and another client is not', async () => {
  ingress = await start({ maxPerAddress: 2, isTrustedProxy: createNetworkMatcher(['127.0.0.0/8']) })
  const from = (address: string) => `x-forwarded-for: ${address}\r\n`
  const greedy = [await dial(slowRequest(from('192.0.2.1'))), await dial(slowRequest(from('192.0.2.1')))]
  expect(greedy).toHaveLength(2)
  const body = JSON.stringify(eventOf('processor', 'evt_1'))
  const event = (address: string) => {
    const [[name, value] = []] = Object.entries(credentialOf('processor', body))
    const head = `POST /v1/webhooks/processor/con_processor HTTP/1.1\r\nhost: x\r\n${from(address)}${name}: ${value}\r\n`
    return `${head}content-length: ${body.length}\r\n\r\n${body}`
  }
  const answerTo = async (address: string) => {
    const [answer] = await once(await dial(event(address)), 'data')
    return String(answer).slice(9, 12)
  }
  await until('the two slow ones are at work', async () => (await answerTo('192.0.2.1')) === '503', { timeoutMs: 900 })
  expect(await answerTo('192.0.2.2')).toBe('200')
  expect(ingress.lines.at(-2)).toMatchObject({ msg: 'event.refused', status: 503, reason: 'address_busy' })
})

test('the 1,000th request of a socket is answered with Connection: close, and then the socket is closed', async () => {
  ingress = await start({})
  const socket = await dial()
  let heard = ''
  socket.on('data', chunk => {
    heard += chunk
  })
  const closed = once(socket, 'close')
  const request = 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n'
  for (let sent = 0; sent < 1_000; sent += 10) {
    socket.write(request.repeat(10))
    await until('answers', () => heard.split('HTTP/1.1 404').length - 1 === sent + 10)
  }
  // One request more, as a client may send before it reads `Connection: close`.
  socket.write(request)
  await closed
  expect(heard.match(/^connection: close/gim)).toHaveLength(1)
  expect(heard.slice(heard.lastIndexOf('HTTP/1.1'))).toMatch(/404 Not Found[\s\S]*connection: close[\s\S]*not_found/i)
})
