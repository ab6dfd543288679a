import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Certificate } from './self-signed-certificate.ts'

export interface ReceivedRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  readonly atMs: number
}

export type Answer = (request: ReceivedRequest, response: ServerResponse) => void

export interface Receiver {
  readonly url: string
  readonly port: number
  /** All received requests, in order. Tests may empty the list. */
  readonly requests: ReceivedRequest[]
  /** The number of accepted and of open connections. */
  readonly connections: { accepted: number; open: number; mostOpen: number }
  /** The answer to the next requests. */
  answer: Answer
  stop(): Promise<void>
}

/** Answers every request with success. */
export const acceptAll: Answer = (_request, response) => {
  response.writeHead(200, { 'content-type': 'text/plain' }).end('ok')
}

/** Starts a customer's endpoint on loopback that records its requests and fails on demand. */
export async function startReceiver(answer: Answer = acceptAll, certificate?: Certificate): Promise<Receiver> {
  const requests: ReceivedRequest[] = []
  const connections = { accepted: 0, open: 0, mostOpen: 0 }
  const sockets = new Set<Socket>()
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => {
      const received: ReceivedRequest = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers as Record<string, string>,
        body: Buffer.concat(chunks),
        atMs: Date.now(),
      }
      requests.push(received)
      receiver.answer(received, response)
    })
  }
  const server = certificate === undefined ? createServer(onRequest) : createTlsServer(certificate, onRequest)
  server.on('connection', (socket: Socket) => {
    connections.accepted++
    connections.open++
    connections.mostOpen = Math.max(connections.mostOpen, connections.open)
    sockets.add(socket)
    socket.once('close', () => {
      connections.open--
      sockets.delete(socket)
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  const receiver: Receiver = {
    url: `${certificate === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    port,
    requests,
    connections,
    answer,
    stop: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
  return receiver
}
