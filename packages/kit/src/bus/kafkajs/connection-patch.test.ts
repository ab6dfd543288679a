import { createRequire } from 'node:module'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { until } from '../../../test/until.ts'
import { patchKafkajsConnections } from './connection-patch.ts'

const require = createRequire(import.meta.url)
const Connection = require('kafkajs/src/network/connection')
const Encoder = require('kafkajs/src/protocol/encoder')
const createSocket = require('kafkajs/src/network/socketFactory')

/** A broker that sends nothing unless a test makes it answer. */
let server: Server
let sockets: Socket[]
beforeEach(async () => {
  sockets = []
  server = createServer(socket => {
    sockets.push(socket)
    socket.on('error', () => undefined)
    socket.resume()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
})
afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  await new Promise(resolve => server.close(resolve))
})

const silent = () => undefined
const logger = { namespace: () => logger, debug: silent, info: silent, warn: silent, error: silent }

function openConnection(requestTimeout = 60_000) {
  return new Connection({
    ...{ host: '127.0.0.1', port: (server.address() as AddressInfo).port, logger, requestTimeout },
    ...{ connectionTimeout: 1_000, socketFactory: createSocket() },
  })
}

/** A request that accepts any response with its correlation id. */
const request = {
  request: { apiKey: 18, apiName: 'ApiVersions', apiVersion: 0, encode: async () => new Encoder() },
  response: {
    decode: async (bytes: Buffer) => ({ bytes, clientSideThrottleTime: 0 }),
    parse: async (data: unknown) => data,
  },
}

function answer(correlationId: number): Buffer {
  const bytes = Buffer.alloc(12)
  bytes.writeInt32BE(8, 0)
  bytes.writeInt32BE(correlationId, 4)
  return bytes
}

async function closeSocket(connection: { isConnected(): boolean }, socket: Socket): Promise<void> {
  socket.destroy()
  await until('the connection is down', () => !connection.isConnected())
}

describe('kafkajs as it is', () => {
  test('opens a socket for each of two connects at once', async () => {
    const connection = openConnection()
    await Promise.all([connection.connect(), connection.connect()])
    await until('both arrived', () => sockets.length === 2)
  })

  test('keeps half a response of the old socket in the parser of the new one', async () => {
    const connection = openConnection()
    await connection.connect()
    await until('it arrived', () => sockets.length === 1)
    sockets[0]!.write(answer(0).subarray(0, 6))
    await until('the half was read', () => connection.bytesBuffered === 6)
    await closeSocket(connection, sockets[0]!)
    await connection.connect()
    expect(connection.bytesBuffered).toBe(6)
  })
})

describe('kafkajs with the patch', () => {
  test('shares one attempt, and one socket, among connects at once', async () => {
    patchKafkajsConnections()
    const connection = openConnection()
    await Promise.all([connection.connect(), connection.connect(), connection.connect()])
    // Connections are accepted in order, so when this later connection has arrived, all earlier ones have.
    const later = connect((server.address() as AddressInfo).port, '127.0.0.1')
    await until('the later caller arrived', () => sockets.some(({ remotePort }) => remotePort === later.localPort))
    expect(sockets).toHaveLength(2)
    later.destroy()
  })

  test('begins each socket with an empty parser', async () => {
    const connection = openConnection()
    await connection.connect()
    await until('it arrived', () => sockets.length === 1)
    sockets[0]!.write(answer(0).subarray(0, 6))
    await until('the half was read', () => connection.bytesBuffered === 6)
    await closeSocket(connection, sockets[0]!)
    await connection.connect()
    await until('it arrived', () => sockets.length === 2)
    const sending = connection.send(request)
    await until('it was sent', () => connection.requestQueue.inflight.size === 1)
    const [correlationId] = connection.requestQueue.inflight.keys()
    sockets[1]!.write(answer(correlationId))
    await expect(sending).resolves.toMatchObject({ clientSideThrottleTime: 0 })
  })

  test('ends a connection on which a request got no answer, and opens another with the next', async () => {
    const connection = openConnection(200)
    await connection.connect()
    await expect(connection.send(request)).rejects.toThrow(/timed out/)
    await until('the connection is down', () => !connection.isConnected())
    await connection.connect()
    await until('another arrived', () => sockets.length === 2)
  })

  test('ends a connection whose bytes make no sense, and no exception escapes', async () => {
    const connection = openConnection()
    await connection.connect()
    await until('it arrived', () => sockets.length === 1)
    const sending = connection.send(request)
    const outcome = expect(sending).rejects.toThrow(/could not be read/)
    await until('it was sent', () => connection.requestQueue.inflight.size === 1)
    const nonsense = Buffer.alloc(8)
    nonsense.writeInt32BE(-3, 0)
    sockets[0]!.write(nonsense)
    await outcome
    await until('the connection is down', () => !connection.isConnected())
  })

  test('ignores data of an old socket', async () => {
    const connection = openConnection()
    await connection.connect()
    await until('it arrived', () => sockets.length === 1)
    await connection.disconnect()
    await connection.connect()
    sockets[0]!.write(answer(0).subarray(0, 6))
    await until('another arrived', () => sockets.length === 2)
    expect(connection.bytesBuffered).toBe(0)
  })
})
