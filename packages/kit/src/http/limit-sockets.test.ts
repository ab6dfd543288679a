import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { pino } from 'pino'
import { afterEach, describe, expect, test } from 'vitest'
import { createManualClock, type ManualClock } from '../../test/manual-clock.ts'
import { until } from '../../test/until.ts'
import { createMetrics, type Metrics } from '../ops/metrics.ts'
import { limitSockets, type SocketLimitOptions, type SocketLimits } from './limit-sockets.ts'

let server: Server
let limits: SocketLimits
let metrics: Metrics
let clock: ManualClock
let lines: { readonly msg: string }[]
/** Number of requests that wait for an answer that never comes. */
let waiting = 0
/** An answer larger than the kernel's buffers for a client that does not read. */
const BIG = Buffer.alloc(16 * 1024 * 1024)
const sockets: Socket[] = []
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
  limits.stop()
  server.closeAllConnections()
  server.close()
})

/**
 * Starts a server. It answers each request with the number of earlier requests, never answers /wait, and answers /big
 * with 16 MiB.
 */
async function serve(options: Partial<SocketLimitOptions>, prepare = (_server: Server) => {}): Promise<void> {
  // A keep-alive timeout longer than any test, so that only the limits close a socket.
  server = createServer({ keepAliveTimeout: 75_000 })
  clock = createManualClock()
  metrics = createMetrics('test')
  lines = []
  prepare(server)
  limits = limitSockets(server, {
    maxSockets: 100,
    maxPerAddress: 100,
    maxRequestsPerSocket: 100,
    isTrustedProxy: () => false,
    clock,
    logger: pino({}, { write: line => void lines.push(JSON.parse(line)) }),
    metrics,
    ...options,
  })
  let served = 0
  waiting = 0
  server.on('request', (request, response) => {
    const admission = limits.admit(request, response)
    if (admission === 'refuse') response.writeHead(503, { connection: 'close' }).end()
    if (admission !== 'handle') return
    if (request.url === '/wait') waiting++
    else if (request.url === '/big') response.end(BIG)
    else response.end(`${served++}`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
}

/** Connects a client that collects all received text. */
async function dial(): Promise<{ socket: Socket; heard(): string; isClosed(): boolean }> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  sockets.push(socket)
  let heard = ''
  let closed = false
  socket.on('error', () => {})
  socket.on('data', chunk => {
    heard += chunk
  })
  socket.on('close', () => {
    closed = true
  })
  await once(socket, 'connect')
  return { socket, heard: () => heard, isClosed: () => closed }
}

/** Connects a client that sends and never reads. */
async function dialWithoutReading(text: string): Promise<void> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  sockets.push(socket)
  socket.on('error', () => {})
  await once(socket, 'connect')
  const requested = once(server, 'request')
  socket.write(text)
  await requested
}

/** Opens `count` sockets that send nothing, one after the other. */
async function dialSilently(count: number) {
  const clients = []
  for (let at = 0; at < count; at++) {
    clients.push(await dial())
    await openIs(n => n > 0)
  }
  return clients
}

const GET = (path = '/', headers = '') => `GET ${path} HTTP/1.1\r\nhost: x\r\n${headers}\r\n`
const readMetric = async (metric: string) =>
  Number(new RegExp(`^${metric.replaceAll(/[{}"]/g, '\\$&')} (\\d+)$`, 'm').exec(await metrics.text())?.[1] ?? 0)
const dropped = (reason: string, limit: string) =>
  readMetric(`http_sockets_dropped_total{reason="${reason}",limit="${limit}",service="test"}`)
const openIs = (fits: (open: number) => boolean) =>
  until('open sockets', async () => fits(await readMetric('http_sockets_open{service="test"}')))

describe('silent connections', () => {
  test('beyond the limit of the server give way, oldest first, and a request is answered', async () => {
    await serve({ maxSockets: 5 })
    const silent = await dialSilently(8)
    await until('the first three are closed', () => silent.slice(0, 3).every(one => one.isClosed()))
    const { socket, heard } = await dial()
    socket.write(GET())
    await until('an answer', () => heard().startsWith('HTTP/1.1 200'))
    expect(silent.slice(4).filter(one => one.isClosed())).toEqual([])
    expect(await dropped('evicted_unused', 'server')).toBe(4)
    expect(await readMetric('http_sockets_open{service="test"}')).toBe(5)
  })

  test('of one address give way to its own next one, and are logged once for all', async () => {
    await serve({ maxPerAddress: 2 })
    const silent = await dialSilently(6)
    await until('four are closed', () => silent.filter(one => one.isClosed()).length === 4)
    expect(silent.slice(4).some(one => one.isClosed())).toBe(false)
    expect(await dropped('evicted_unused', 'address')).toBe(4)
    expect(lines).toEqual([])
    await clock.advance(10_000)
    expect(lines).toMatchObject([
      { msg: 'sockets.dropped', dropped: { evicted_unused: 4 }, addresses: 1, most_from: { '127.0.0.1': 4 } },
    ])
    await clock.advance(60_000)
    expect(lines).toHaveLength(1)
  })

  test('of a trusted proxy are not limited by its address', async () => {
    await serve({ maxPerAddress: 2, isTrustedProxy: address => address === '127.0.0.1' })
    const silent = await dialSilently(6)
    await openIs(open => open === 6)
    expect(silent.some(one => one.isClosed())).toBe(false)
  })
})

test('a connection is refused when every other one is at work, and that is counted', async () => {
  await serve({ maxSockets: 2 })
  const busy = [await dial(), await dial()]
  for (const { socket } of busy) socket.write(GET('/wait'))
  await until('both are at work', () => waiting === 2)
  const late = await dial()
  await until('the third is closed', () => late.isClosed())
  expect(await dropped('refused', 'server')).toBe(1)
  expect(busy.some(one => one.isClosed())).toBe(false)
})

describe('requests through a trusted proxy', () => {
  const through = { maxPerAddress: 1, isTrustedProxy: (address: string) => address === '127.0.0.1' }
  const from = (address: string) => `x-forwarded-for: ${address}\r\n`

  test('are refused beyond the limit of the client that it names, and no other client is', async () => {
    await serve(through)
    const clients = [await dial(), await dial(), await dial()]
    clients[0]?.socket.write(GET('/wait', from('192.0.2.1')))
    await until('one is at work', () => waiting === 1)
    clients[1]?.socket.write(GET('/', from('192.0.2.1')))
    clients[2]?.socket.write(GET('/', from('192.0.2.2')))
    await until('both are answered', () => clients.slice(1).every(one => one.heard() !== ''))
    expect(clients.map(one => one.heard().slice(0, 12))).toEqual(['', 'HTTP/1.1 503', 'HTTP/1.1 200'])
    await until('the refused one is closed', () => clients[1]?.isClosed() === true)
    expect(await dropped('refused', 'address')).toBe(1)
    await clock.advance(10_000)
    expect(lines).toMatchObject([{ msg: 'sockets.dropped', dropped: { refused: 1 }, most_from: { '192.0.2.1': 1 } }])
  })

  test('of one socket need one check whether the peer is a proxy', async () => {
    let checks = 0
    const isTrustedProxy = () => {
      checks += 1
      return false
    }
    await serve({ isTrustedProxy })
    const { socket, heard } = await dial()
    socket.write(GET().repeat(3))
    await until('three answers', () => heard().split('HTTP/1.1 200').length === 4)
    expect(checks).toBe(1)
  })

  test('of clients that are no proxies are counted by the peer, whatever they claim', async () => {
    await serve({ maxPerAddress: 1 })
    const client = await dial()
    client.socket.write(GET('/', from('192.0.2.1')))
    await until('an answer', () => client.heard() !== '')
    const next = await dial()
    next.socket.write(GET('/', from('192.0.2.2')))
    await until('the first is evicted', () => client.isClosed())
    expect(await dropped('evicted_idle', 'address')).toBe(1)
  })
})

describe('the last request of a socket', () => {
  test('is answered whole with Connection: close, and then the socket is closed', async () => {
    await serve({ maxRequestsPerSocket: 3 })
    const { socket, heard, isClosed } = await dial()
    for (let sent = 0; sent < 3; sent++) {
      socket.write(GET())
      await until('an answer', () => heard().split('HTTP/1.1 200').length === sent + 2)
    }
    await until('the close', isClosed)
    const answers = heard().split('HTTP/1.1 ').slice(1)
    expect(answers.map(answer => /connection: ([\w-]+)/i.exec(answer)?.[1])).toEqual([
      'keep-alive',
      'keep-alive',
      'close',
    ])
    expect(answers.at(-1)).toMatch(/\r\n\r\n2$/)
  })

  test('is the last that is handled when more are sent behind it at once', async () => {
    await serve({ maxRequestsPerSocket: 3 })
    const { socket, heard, isClosed } = await dial()
    socket.write(GET().repeat(10))
    await until('the close', isClosed)
    expect(heard().match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 200'])
  })
})

test('a socket that sends on and on without waiting for answers is cut, and counted', async () => {
  await serve({})
  const client = await dial()
  client.socket.write('GET /wait HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(2_000))
  await until('the socket to be closed', () => client.isClosed())
  expect(waiting).toBe(20)
  expect(await dropped('pipelined', 'socket')).toBe(1)
})

test('a socket that waits for its answers is not cut, and neither are a few requests that do not', async () => {
  await serve({})
  const client = await dial()
  const request = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'
  client.socket.write(request.repeat(20))
  await until('all answers', () => client.heard().match(/HTTP\/1.1 200/g)?.length === 20)
  for (let count = 21; count <= 60; count++) {
    client.socket.write(request)
    await until('the answer', () => client.heard().match(/HTTP\/1.1 200/g)?.length === count)
  }
  expect(client.isClosed()).toBe(false)
})

describe('an answer that its client does not read', () => {
  test('gives way to a new connection after a second, when there are too many', async () => {
    await serve({ maxSockets: 2 })
    for (let count = 0; count < 2; count++) await dialWithoutReading(GET('/big'))
    await clock.advance(1_000)
    const client = await dial()
    client.socket.write(GET())
    await until('an answer', () => client.heard().startsWith('HTTP/1.1 200'))
    expect(await dropped('evicted_unread_answer', 'server')).toBe(1)
  })

  test('is cut off after 15 seconds, and counted', async () => {
    await serve({})
    await dialWithoutReading(GET('/big'))
    await clock.advance(15_000)
    await openIs(open => open === 1)
    expect(await dropped('unread_answer', 'socket')).toBe(0)
    await clock.advance(1_000)
    await openIs(open => open === 0)
    expect(await dropped('unread_answer', 'socket')).toBe(1)
  })

  test('does not cut off a request at work on the same socket', async () => {
    await serve({ maxSockets: 1 })
    await dialWithoutReading(GET('/wait') + GET('/big'))
    await until('the first is at work', () => waiting === 1)
    await clock.advance(60_000)
    const late = await dial()
    await until('the late one is closed', () => late.isClosed())
    expect(await dropped('refused', 'server')).toBe(1)
    expect(await readMetric('http_sockets_open{service="test"}')).toBe(1)
  })

  test('is not mistaken for a request that is long at work', async () => {
    await serve({})
    const client = await dial()
    client.socket.write(GET('/wait'))
    await until('it is at work', () => waiting === 1)
    await clock.advance(60_000)
    // While another client is answered, this one would hear that it was cut off.
    const other = await dial()
    other.socket.write(GET())
    await until('an answer', () => other.heard().startsWith('HTTP/1.1 200'))
    expect(client.isClosed()).toBe(false)
  })
})

test('without access to the parser of Node, pipelined requests are limited all the same, and the log says so once', async () => {
  await serve({}, unprepared => {
    unprepared.on('connection', (socket: Socket & { parser?: unknown }) => {
      const { parser } = socket
      socket.parser = undefined
      queueMicrotask(() => {
        socket.parser = parser
      })
    })
  })
  const client = await dial()
  client.socket.write(GET('/wait').repeat(100))
  await until('the socket to be closed', () => client.isClosed())
  expect(waiting).toBe(20)
  expect(await dropped('pipelined', 'socket')).toBe(1)
  await dialSilently(2)
  expect(lines.filter(line => line.msg === 'http.parse_guard_unavailable')).toHaveLength(1)
})
