import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Answer } from './answers.ts'
import { BAD_REQUEST, HEADERS_TOO_LARGE, TOO_SLOW } from './answers.ts'

/**
 * Limits of the server itself (guides: R2.2). Without the short checking interval Node looks for slow clients every 30 s
 * only, and a time-out of 10 s would mean up to 40.
 */
const LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  connectionsCheckingInterval: 1_000,
  /** Longer than a load balancer keeps an idle connection (60 s), so that it never sends into one that we just closed. */
  keepAliveTimeout: 75_000,
  maxHeaderSize: 16_384,
  insecureHTTPParser: false,
} as const
const MAX_HEADERS = 100
const MAX_REQUESTS_PER_SOCKET = 1_000
const MAX_CONNECTIONS = 5_000
/** How long a connection that sent no valid HTTP stays open for its answer to be read, in milliseconds. */
const LINGER_MS = 1_000

/** @param expectsContinue the client waits for "100 Continue" before it sends its body */
export type Handle = (request: IncomingMessage, response: ServerResponse, expectsContinue: boolean) => Promise<void>

/** The HTTP server around a handler. `onBadRequest` is told of what never became a request. */
export function createWebhookServer(handle: Handle, onBadRequest: (status: number, reason: string) => void): Server {
  const responses = new WeakMap<Duplex, ServerResponse>()
  const refused = new WeakSet<Duplex>()
  const take = (request: IncomingMessage, response: ServerResponse, expectsContinue: boolean) => {
    responses.set(request.socket, response)
    void handle(request, response, expectsContinue)
  }
  const server = createServer(LIMITS)
  server.maxHeadersCount = MAX_HEADERS
  server.maxRequestsPerSocket = MAX_REQUESTS_PER_SOCKET
  server.maxConnections = MAX_CONNECTIONS
  server.on('request', (request, response) => take(request, response, false))
  server.on('checkContinue', (request, response) => take(request, response, true))
  // Other expectations may be ignored (RFC 9110 §10.1.1).
  server.on('checkExpectation', (request, response) => take(request, response, false))
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // What is left of the bad request fails to parse again and again while the answer is on its way.
    if (refused.has(socket)) return
    refused.add(socket)
    const response = responses.get(socket)
    const isUnderWay = response !== undefined && !response.writableFinished
    if (!socket.writable || (isUnderWay && response.headersSent) || error.code === 'ECONNRESET') {
      socket.destroy()
      return
    }
    const { answer, reason } = badRequest(error.code)
    // A request whose body turned out bad is recorded by its handler, which sees it broken off.
    if (!isUnderWay) onBadRequest(answer.status, reason)
    socket.end(rawAnswer(answer))
    // Closing on unread bytes would reset the connection, and the client would see the reset instead of the answer.
    setTimeout(() => socket.destroy(), LINGER_MS).unref()
  })
  return server
}

function badRequest(code: string | undefined): { answer: Answer; reason: string } {
  if (code === 'HPE_HEADER_OVERFLOW') return { answer: HEADERS_TOO_LARGE, reason: 'headers_too_large' }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return { answer: TOO_SLOW, reason: 'too_slow' }
  return { answer: BAD_REQUEST, reason: 'bad_http' }
}

/** An answer as bytes, for a connection on which Node has no response to write to. */
function rawAnswer(answer: Answer): Buffer {
  const lines = [`HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}`]
  for (let at = 0; at + 1 < answer.headers.length; at += 2) {
    lines.push(`${answer.headers[at]}: ${answer.headers[at + 1]}`)
  }
  lines.push('connection: close', '', '')
  return Buffer.concat([Buffer.from(lines.join('\r\n')), Buffer.from(answer.body)])
}
