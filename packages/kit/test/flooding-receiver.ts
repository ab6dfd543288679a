import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createServer as createTlsServer, type SecureContextOptions, type TLSSocket } from 'node:tls'
import type { Certificate } from './self-signed-certificate.ts'

/** The answer of a hostile server: `head` once, then `piece` until the client closes the connection. */
export interface Flood {
  readonly name: string
  readonly head: string
  readonly piece: string
}

const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'

/** Endless answers of which an HTTP parser passes on almost nothing. */
export const FLOODS = {
  chunkExtension: { name: 'one chunk extension', head: `${CHUNKED}1;`, piece: 'a'.repeat(65_536) },
  chunkExtensions: {
    name: 'chunks of one byte with large extensions',
    head: CHUNKED,
    piece: `1;${'a'.repeat(8_000)}\r\nx\r\n`.repeat(8),
  },
  interimResponses: { name: 'interim responses', head: '', piece: 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(2_000) },
  continues: { name: '"100 Continue"', head: '', piece: 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(2_000) },
  largeInterimResponses: {
    name: 'interim responses with large headers',
    head: '',
    piece: `HTTP/1.1 102 Processing\r\nX-A: ${'a'.repeat(15_000)}\r\n\r\n`,
  },
  reasonPhrase: { name: 'a reason phrase', head: 'HTTP/1.1 200 ', piece: 'a'.repeat(65_536) },
  headers: { name: 'headers', head: 'HTTP/1.1 200 OK\r\n', piece: 'X-A: 1\r\n'.repeat(8_000) },
  trailers: { name: 'trailers', head: `${CHUNKED}2\r\nok\r\n0\r\n`, piece: 'X-A: 1\r\n'.repeat(8_000) },
} as const satisfies Readonly<Record<string, Flood>>

export interface FloodingReceiver {
  readonly port: number
  /** Number of bytes sent over all connections, including bytes that are still in kernel buffers. */
  sentBytes(): number
  stop(): Promise<void>
}

/** Starts a server on loopback that answers every request with the flood. */
export function startFloodingReceiver(flood: Flood, certificate?: Certificate): Promise<FloodingReceiver> {
  return serve(
    socket =>
      socket.once('data', () => {
        if (flood.head !== '') socket.write(flood.head)
        const writeEndlessly = () => {
          while (!socket.destroyed && socket.write(flood.piece));
        }
        socket.on('drain', writeEndlessly)
        writeEndlessly()
      }),
    certificate,
  )
}

/**
 * Starts a TLS server on loopback that answers every request with endless renegotiations, which no HTTP parser sees.
 */
export function startRenegotiatingReceiver(certificate: Certificate): Promise<FloodingReceiver> {
  return serve(
    socket =>
      socket.once('data', () => {
        const again = () => {
          if (!socket.destroyed) (socket as TLSSocket).renegotiate({}, error => (error === null ? again() : undefined))
        }
        again()
      }),
    certificate,
    { maxVersion: 'TLSv1.2' },
  )
}

async function serve(
  onSocket: (socket: Socket) => void,
  certificate?: Certificate,
  options: SecureContextOptions = {},
): Promise<FloodingReceiver> {
  const sockets: Socket[] = []
  const onConnection = (socket: Socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    onSocket(socket)
  }
  const server =
    certificate === undefined
      ? createServer(onConnection)
      : createTlsServer({ ...certificate, ...options }, onConnection)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    sentBytes: () => sockets.reduce((sum, socket) => sum + socket.bytesWritten, 0),
    async stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
