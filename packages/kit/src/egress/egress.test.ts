import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Answer, type Receiver, startReceiver } from '../../test/receiver.ts'
import { createEgress, createEgressWith, type Egress, type EgressOptions } from './egress.ts'
import type { EgressRequest } from './exchange.ts'
import { egressReason } from './failure.ts'

const silent = pino({ level: 'silent' })
const local = { allowCidrs: ['127.0.0.0/8'], denyCidrs: [], logger: silent }
let receiver: Receiver
let egress: Egress

beforeEach(async () => {
  receiver = await startReceiver()
  egress = createEgress(local)
})
afterEach(async () => {
  await egress.stop()
  await receiver.stop()
})

const post = (overrides: Partial<EgressRequest> = {}) =>
  egress.request({
    url: `${receiver.url}/hook`,
    method: 'POST',
    headers: { 'x-one': '1' },
    body: 'hello',
    ...overrides,
  })
const reasonOf = async (request: Promise<unknown>) => request.then(() => 'answered', egressReason)

describe('an answer', () => {
  test('comes back with its status, headers and body as it was sent', async () => {
    receiver.answer = (_request, response) => {
      response.writeHead(418, { 'retry-after': '7', 'set-cookie': ['a=1', 'b=2'] }).end('short and stout')
    }
    const answer = await post()
    expect(answer).toMatchObject({
      status: 418,
      complete: true,
      headers: { 'retry-after': '7', 'set-cookie': 'a=1, b=2' },
    })
    expect(answer.body.toString()).toBe('short and stout')
    expect(receiver.requests[0]).toMatchObject({ method: 'POST', path: '/hook', headers: { 'x-one': '1' } })
    expect(receiver.requests[0]?.body.toString()).toBe('hello')
  })

  test.each([301, 302, 303, 307, 308])('%i is an answer and is not followed', async status => {
    const metadata = await startReceiver()
    receiver.answer = (_request, response) => void response.writeHead(status, { location: metadata.url }).end()
    expect((await post()).status).toBe(status)
    expect(metadata.connections.accepted).toBe(0)
    await metadata.stop()
  })

  test('that is compressed stays compressed, so that nothing small grows large', async () => {
    const bomb = gzipSync(Buffer.alloc(5_000_000))
    receiver.answer = (_request, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)
    expect((await post()).body).toHaveLength(bomb.length)
  })

  test('over a connection that was kept is as good as over a new one', async () => {
    for (let sent = 0; sent < 10; sent++) await post()
    expect(receiver.requests).toHaveLength(10)
    // undici opens a second connection while the first one is being returned to the pool.
    expect(receiver.connections.accepted).toBeLessThanOrEqual(2)
  })
})

describe('an answer without end', () => {
  const endless: Answer = (_request, response) => {
    response.writeHead(200)
    const writeEndlessly = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536)));
      if (!response.destroyed) response.once('drain', writeEndlessly)
    }
    writeEndlessly()
  }
  const dripping: Answer = (_request, response) => {
    response.writeHead(200)
    const timer = setInterval(() => response.write('.'), 20)
    response.once('close', () => clearInterval(timer))
  }

  test('is refused at 64 KiB', async () => {
    receiver.answer = endless
    expect(await reasonOf(post())).toBe('response_too_large')
  })

  test('gives its first 64 KiB to a caller who lives by the status', async () => {
    receiver.answer = endless
    const answer = await post({ partialBody: 'accept' })
    expect(answer).toMatchObject({ status: 200, complete: false })
    expect(answer.body).toHaveLength(65_536)
  })

  test('that drips is cut at the overall deadline, however often a byte comes', async () => {
    receiver.answer = dripping
    expect(await reasonOf(post({ timeoutMs: 200 }))).toBe('deadline')
    expect(await post({ timeoutMs: 200, partialBody: 'accept' })).toMatchObject({ status: 200, complete: false })
  })
})

describe('no answer', () => {
  const raw = async (onConnection: (socket: Socket) => void): Promise<[Server, string]> => {
    const server = createServer(socket => {
      socket.on('error', () => {})
      onConnection(socket)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return [server, `http://127.0.0.1:${(server.address() as { port: number }).port}/`]
  }
  const rows: { name: string; behave: (socket: Socket) => void; reason: string }[] = [
    {
      name: 'a reset',
      behave: socket => socket.once('data', () => socket.resetAndDestroy()),
      reason: 'connection_lost',
    },
    { name: 'a close', behave: socket => socket.once('data', () => socket.end()), reason: 'connection_lost' },
    {
      name: 'no HTTP',
      behave: socket => socket.once('data', () => socket.end('SSH-2.0\r\n')),
      reason: 'response_invalid',
    },
    { name: 'silence', behave: () => {}, reason: 'deadline' },
  ]
  test.each(rows)('because of $name is $reason', async ({ behave, reason }) => {
    const sockets: Socket[] = []
    const [server, url] = await raw(socket => {
      sockets.push(socket)
      behave(socket)
    })
    await expect(post({ url, timeoutMs: 300 })).rejects.toMatchObject({ code: 'unavailable', retryable: true })
    expect(await reasonOf(post({ url, timeoutMs: 300 }))).toBe(reason)
    for (const socket of sockets) socket.destroy()
    server.close()
  })

  test('because no server listens is connect_refused, and the message contains no address', async () => {
    const { url } = receiver
    await receiver.stop()
    const error = await post({ url }).catch(error => error)
    expect(egressReason(error)).toBe('connect_refused')
    expect(error.message).not.toContain('127.0.0.1')
  })

  test('because the caller gave up, or the client stopped, is stopped', async () => {
    receiver.answer = () => {}
    const controller = new AbortController()
    const waiting = reasonOf(post({ signal: controller.signal }))
    controller.abort()
    expect(await waiting).toBe('stopped')
    const second = reasonOf(post())
    await expect.poll(() => receiver.requests.length).toBeGreaterThan(0)
    await egress.stop()
    expect(await second).toBe('stopped')
    expect(await reasonOf(post())).toBe('stopped')
  })

  test('because the name has no address is dns_failed', async () => {
    const blind = createEgressWith(local, {
      resolve: async () => {
        throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })
      },
    })
    expect(await reasonOf(blind.request({ url: 'https://nowhere.example.com/', method: 'GET', headers: {} }))).toBe(
      'dns_failed',
    )
    await blind.stop()
  })
})

describe('bounds', () => {
  test('at most four connections go to one host in one lane', async () => {
    const waiting: (() => void)[] = []
    receiver.answer = (_request, response) => void waiting.push(() => response.end('ok'))
    const all = Promise.all(Array.from({ length: 12 }, () => post()))
    await expect.poll(() => waiting.length).toBe(4)
    receiver.answer = (_request, response) => void response.end('ok')
    for (const release of waiting) release()
    await all
    expect(receiver.connections.mostOpen).toBe(4)
  })

  test('a lane whose connections all hang does not delay another lane to the same host', async () => {
    receiver.answer = (request, response) => void (request.path === '/hang' || response.end('ok'))
    const hanging = Array.from({ length: 8 }, () =>
      reasonOf(post({ url: `${receiver.url}/hang`, lane: 'dead', timeoutMs: 1_000 })),
    )
    await expect.poll(() => receiver.requests.length).toBe(4)
    expect((await post({ lane: 'alive', timeoutMs: 500 })).status).toBe(200)
    expect(new Set(await Promise.all(hanging))).toEqual(new Set(['deadline']))
  })

  test('beyond the bound of the whole process no further socket is opened', async () => {
    const small = createEgress({ ...local, maxSockets: 1 })
    receiver.answer = () => {}
    const request = { url: receiver.url, method: 'GET', headers: {}, timeoutMs: 300 } as const
    const first = reasonOf(small.request({ ...request, lane: 'a' }))
    await expect.poll(() => receiver.requests.length).toBe(1)
    expect(await reasonOf(small.request({ ...request, lane: 'b' }))).toBe('too_many_connections')
    expect(await first).toBe('deadline')
    await small.stop()
  })
})

describe('behind a proxy', () => {
  const startProxy = async (answer: string, to?: number) => {
    const asked: string[] = []
    const { connect } = await import('node:net')
    const server = createServer(socket => {
      socket.on('error', () => {})
      socket.once('data', head => {
        asked.push(head.toString().split('\r\n')[0] ?? '')
        socket.write(answer)
        if (to === undefined) return void socket.end()
        const onward = connect(to, '127.0.0.1')
        socket.pipe(onward).pipe(socket)
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return { asked, server, url: `http://127.0.0.1:${(server.address() as { port: number }).port}` }
  }
  const through = (proxyUrl: string, answers: string[], options: Partial<EgressOptions> = {}) =>
    createEgressWith(
      { ...local, proxyUrl, ...options },
      { resolve: async () => answers.map(address => ({ address, family: 4 as const })) },
    )

  test('names are still checked here, and then connected to by the proxy', async () => {
    const proxy = await startProxy('HTTP/1.1 200 OK\r\n\r\n', receiver.port)
    const proxied = through(proxy.url, ['127.0.0.1'])
    const answer = await proxied.request({ url: 'http://receiver:8080/x', method: 'POST', headers: {}, body: 'x' })
    expect(answer.status).toBe(200)
    expect(proxy.asked).toEqual(['CONNECT receiver:8080 HTTP/1.1'])
    await proxied.stop()

    const guarded = through(proxy.url, ['10.0.0.1'])
    const request = { url: 'https://inside.example.com/', method: 'GET', headers: {} } as const
    expect(await reasonOf(guarded.request(request))).toBe('resolved_address')
    expect(await reasonOf(guarded.request({ ...request, url: 'https://10.0.0.1/' }))).toBe('literal_address')
    expect(proxy.asked).toHaveLength(1)
    await guarded.stop()
    proxy.server.close()
  })

  test('a refusal of the proxy is the proxy, not the receiver', async () => {
    const proxy = await startProxy('HTTP/1.1 502 Bad Gateway\r\n\r\n')
    const proxied = through(proxy.url, ['127.0.0.1'])
    expect(await reasonOf(proxied.request({ url: 'http://receiver:8080/x', method: 'GET', headers: {} }))).toBe(
      'proxy_failed',
    )
    await proxied.stop()
    proxy.server.close()
  })

  test('a proxy in the environment is ignored', async () => {
    process.env.HTTP_PROXY = 'http://127.0.0.1:9'
    try {
      expect((await post()).status).toBe(200)
    } finally {
      delete process.env.HTTP_PROXY
    }
  })
})
