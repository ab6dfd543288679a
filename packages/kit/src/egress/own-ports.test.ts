/** Users who set URLs cannot reach the ports of the process itself, on any address of its machine. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { listen } from '../ops/ops-server.ts'
import { createEgress, createEgressWith, type Egress } from './egress.ts'
import { egressReason } from './failure.ts'

/** Addresses of this machine other than loopback. */
const OWN_ADDRESSES = Object.values(networkInterfaces())
  .flatMap(addresses => addresses ?? [])
  .filter(({ family, internal }) => family === 'IPv4' && !internal)
  .map(({ address }) => address)
const allowed = {
  allowCidrs: ['127.0.0.0/8', '::1/128', ...OWN_ADDRESSES],
  denyCidrs: [],
  logger: pino({ level: 'silent' }),
}

let own: Server
let other: Server
let reached: number
let egress: Egress
const portOf = (server: Server) => (server.address() as AddressInfo).port
beforeEach(async () => {
  reached = 0
  own = createServer((_request, response) => void response.end('secret metrics'))
  own.on('connection', () => reached++)
  other = createServer((_request, response) => void response.end('receiver'))
  await listen(own, 0, '0.0.0.0')
  await listen(other, 0, '127.0.0.1')
  egress = createEgress({ ...allowed, ownPorts: [portOf(own)] })
})
afterEach(async () => {
  await egress.stop()
  for (const server of [own, other]) {
    server.closeAllConnections()
    server.close()
  }
})

const get = (host: string, port: number, client = egress) =>
  client.request({ url: `http://${host}:${port}/metrics`, method: 'GET', headers: {} })

describe('a port that this process listens on', () => {
  test.each(['127.0.0.1', '127.77.0.1', '[::1]', '[::ffff:127.0.0.1]', ...OWN_ADDRESSES])(
    'is never connected to by the address %s, although its network is allowed',
    async host => {
      expect(await get(host, portOf(own)).then(() => 'answered', egressReason)).toBe('literal_address')
      expect(reached).toBe(0)
    },
  )

  test.each(['127.0.0.1', '::1', ...OWN_ADDRESSES])(
    'is never connected to by a name that resolves to %s',
    async address => {
      const family = address.includes(':') ? 6 : 4
      const named = createEgressWith(
        { ...allowed, ownPorts: [portOf(own)] },
        { resolve: async () => [{ address, family }] },
      )
      expect(await get('receiver.internal', portOf(own), named).then(() => 'answered', egressReason)).toBe(
        'resolved_address',
      )
      expect(reached).toBe(0)
      await named.stop()
    },
  )

  test('does not block the other ports of the machine', async () => {
    expect((await get('127.0.0.1', portOf(other))).body.toString()).toBe('receiver')
  })

  test('is reached where it is the port of another machine', async () => {
    // The client does not know this port as its own, as if it belonged to another machine.
    const elsewhere = createEgress({ ...allowed, ownPorts: [portOf(other) + 1] })
    expect((await get('127.0.0.1', portOf(other), elsewhere)).status).toBe(200)
    await elsewhere.stop()
  })
})
