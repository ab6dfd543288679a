/**
 * Runs every vector against the three checks of a connection, and shows that each check is needed: without it some
 * vector reaches its target. Every connection in these tests ends on loopback.
 */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { pino } from 'pino'
import { buildConnector } from 'undici'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { BLOCKED_URLS, PUBLIC_V4, VECTOR_DNS } from '../../test/egress-vectors.ts'
import { type Receiver, startReceiver } from '../../test/receiver.ts'
import type { AppError } from '../errors.ts'
import { createAddressPolicy } from './address-policy.ts'
import { CONNECTION_CHECKS, type ConnectionCheck, type ConnectorOptions, createGuardedConnector } from './connector.ts'
import { createEgressWith, type Egress } from './egress.ts'
import type { Resolve } from './resolver.ts'

const logger = pino({ level: 'silent' })
let receiver: Receiver

beforeAll(async () => {
  receiver = await startReceiver()
})
afterAll(() => receiver.stop())
beforeEach(() => {
  receiver.requests.length = 0
  receiver.connections.accepted = 0
})

const resolveVectors: Resolve = async host => {
  const answers = VECTOR_DNS[host]
  if (answers === undefined) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })
  return answers.map(address => ({ address, family: address.includes(':') ? 6 : 4 }))
}

/** Resolves names with the guarded lookup, but connects to the receiver's port without TLS. */
const dialReceiver: NonNullable<ConnectorOptions['dial']> = options => (target, callback) => {
  const { lookup } = options as { lookup: never }
  const host = target.hostname.replace(/^\[|\]$/g, '')
  const socket = connect({ host, port: receiver.port, lookup, timeout: 500 })
  socket.once('timeout', () => socket.destroy(new Error('timed out')))
  socket.once('connect', () => callback(null, socket))
  socket.once('error', error => callback(error, null))
  return socket
}

/** A network that connects to loopback instead of the requested address. */
const dialElsewhere: NonNullable<ConnectorOptions['dial']> = () => (_target, callback) => {
  const socket = connect({ host: '127.0.0.1', port: receiver.port })
  socket.once('connect', () => callback(null, socket))
  socket.once('error', error => callback(error, null))
  return socket
}

const handingOverLate =
  (dial: NonNullable<ConnectorOptions['dial']>): typeof dial =>
  options => {
    const connector = dial(options)
    return (target, callback) => {
      connector(target, callback)
      return undefined as never
    }
  }

const without = (check: ConnectionCheck) => CONNECTION_CHECKS.filter(one => one !== check)

async function attempt(url: string, seams: Parameters<typeof createEgressWith>[1]): Promise<number | AppError> {
  const egress: Egress = createEgressWith(
    { allowCidrs: [], denyCidrs: [], logger },
    { resolve: resolveVectors, ...seams },
  )
  try {
    return (await egress.request({ url, method: 'POST', headers: {}, body: 'x', timeoutMs: 2_000 })).status
  } catch (error) {
    return error as AppError
  } finally {
    await egress.stop()
  }
}

describe('with all three checks nothing gets through', () => {
  test.each(BLOCKED_URLS)('$name is blocked as $reason and never connected to', async ({ url, reason }) => {
    const outcome = (await attempt(url, { dial: dialReceiver })) as AppError
    expect(outcome).toMatchObject({ code: 'egress_blocked', details: { reason } })
    expect(receiver.connections.accepted).toBe(0)
    const host = url.split('/')[2] ?? ''
    for (const address of VECTOR_DNS[host] ?? []) expect(`${outcome.message}${outcome.stack}`).not.toContain(address)
  })

  test('a name that flips to a private address is blocked at its next connection', async () => {
    let answers = [PUBLIC_V4]
    const resolve: Resolve = async () => answers.map(address => ({ address, family: 4 }))
    let answered: unknown
    const dial: NonNullable<ConnectorOptions['dial']> = options => (target, callback) => {
      const { lookup } = options as unknown as {
        lookup: (h: string, o: object, c: (e: Error | null, a: unknown) => void) => void
      }
      lookup(target.hostname, { all: true }, (error, addresses) => {
        if (error !== null) return callback(error, null)
        answered = addresses
        const socket = connect({ host: '127.0.0.1', port: receiver.port })
        socket.once('connect', () => callback(null, socket))
      })
      return undefined as never
    }
    const egress = createEgressWith(
      { allowCidrs: [], denyCidrs: [], logger },
      { resolve, dial, checks: without('socket') },
    )
    receiver.answer = (_request, response) => void response.writeHead(200, { connection: 'close' }).end('ok')
    const send = () => egress.request({ url: 'https://rebind.example.com/', method: 'POST', headers: {}, body: 'x' })
    expect((await send()).status).toBe(200)
    expect(answered).toEqual([{ address: PUBLIC_V4, family: 4 }])
    answers = ['127.0.0.1']
    await expect(send()).rejects.toMatchObject({ code: 'egress_blocked', details: { reason: 'resolved_address' } })
    expect(receiver.requests).toHaveLength(1)
    await egress.stop()
  })

  test.each([
    { name: 'as it was opened', dial: dialElsewhere },
    // A dialler may hand over the socket only when it is connected, like undici's own behind a proxy.
    { name: 'once it is handed over', dial: handingOverLate(dialElsewhere) },
  ])('a connection that landed elsewhere than it was told is cut before a byte is sent, $name', async ({ dial }) => {
    const outcome = await attempt('https://public.example.com/', { dial })
    expect(outcome).toMatchObject({ code: 'egress_blocked', details: { reason: 'socket_address' } })
    expect(receiver.requests).toHaveLength(0)
  })

  test('the connector itself refuses a literal', async () => {
    const connector = createGuardedConnector({
      addresses: createAddressPolicy({ allowCidrs: [], denyCidrs: [] }),
      resolve: resolveVectors,
      connectTimeoutMs: 500,
      maxSockets: 1,
      verifyTls: true,
      dial: dialReceiver,
    })
    const target = { hostname: '127.0.0.1', host: '127.0.0.1', protocol: 'https:', port: '' }
    const error = await new Promise(resolve => connector(target, (...[refusal]) => resolve(refusal)))
    expect(error).toMatchObject({ code: 'egress_blocked', details: { reason: 'literal_address' } })
    expect(receiver.connections.accepted).toBe(0)
  })

  test('and before a TLS handshake has told it the name that was meant', async () => {
    let heard = 0
    const server = createServer(socket => {
      socket.on('error', () => {})
      socket.on('data', chunk => {
        heard += chunk.length
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const dial: NonNullable<ConnectorOptions['dial']> = options => {
      const lookup = (_host: string, _options: object, callback: (error: null, found: object[]) => void) =>
        callback(null, [{ address: '127.0.0.1', family: 4 }])
      const connectTls = buildConnector({ ...options, lookup } as buildConnector.BuildOptions)
      return (target, callback) => connectTls({ ...target, port: String(port) }, callback)
    }
    const closed = once(server, 'connection').then(([socket]) => once(socket as Socket, 'close'))
    const outcome = await attempt('https://public.example.com/', { dial })
    expect(outcome).toMatchObject({ code: 'egress_blocked', details: { reason: 'socket_address' } })
    await closed
    expect(heard).toBe(0)
    server.close()
  })
})

describe('each check is needed: leaving it out lets a vector through', () => {
  test('without the literal check, a literal is connected to: Node looks up no name for it', async () => {
    await attempt('https://127.0.0.1/', { dial: dialReceiver, checks: without('literal') })
    expect(receiver.connections.accepted).toBe(1)
  })

  test('without the literal and the socket check, a literal is even delivered to', async () => {
    expect(await attempt('https://127.0.0.1/', { dial: dialReceiver, checks: ['resolved'] })).toBe(200)
  })

  test('without the check of what a name resolves to, loopback is connected to', async () => {
    await attempt('https://loopback.example.com/', { dial: dialReceiver, checks: without('resolved') })
    expect(receiver.connections.accepted).toBe(1)
  })

  test('without the check of the connected socket, a network that misleads is delivered to', async () => {
    expect(await attempt('https://public.example.com/', { dial: dialElsewhere, checks: without('socket') })).toBe(200)
  })
})
