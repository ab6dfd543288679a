import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { ErrorCode } from '@backstop/contracts'

/** Bytes that did not become a whole request. */
export interface BadHttp {
  readonly code: Extract<ErrorCode, 'invalid_request' | 'headers_too_large' | 'request_timeout'>
  /** Node's error code, for the log and the metric. */
  readonly reason: string
  /** Whether it interrupted the body of a request in flight, whose handler sees the interruption. */
  readonly isUnderWay: boolean
  /** Whether the client never sent a byte. It gets no answer: it requested nothing, and there may be thousands. */
  readonly isSilent: boolean
}

/** An answer for a connection without a response object of Node. */
export interface BareAnswer {
  readonly status: number
  /** Alternating names and values, as for http's writeHead; `connection: close` is added. */
  readonly headers: readonly string[]
  readonly body: string | Buffer
}

/** How long a connection that sent no valid HTTP stays open for its answer to be read, in milliseconds. */
const LINGER_MS = 1_000

const CODES: Readonly<Record<string, BadHttp['code']>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
}

/**
 * Answers invalid or too slow HTTP with a full answer; Node's own has no body. Call it after all other listeners of the server are added.
 * @param answerTo makes the answer, and may log it; called at most once for a connection
 */
export function refuseBadHttp(server: Server, answerTo: (bad: BadHttp) => BareAnswer): void {
  const responses = new WeakMap<Duplex, ServerResponse>()
  const refused = new WeakSet<Duplex>()
  const remember = (request: IncomingMessage, response: ServerResponse) => void responses.set(request.socket, response)
  // Only events with a listener: one for checkContinue alone would keep Node from answering "100 Continue".
  for (const event of ['request', 'checkContinue', 'checkExpectation'] as const) {
    if (server.listenerCount(event) > 0) server.prependListener(event, remember)
  }
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // The rest of the bad request fails to parse again while the answer is sent.
    if (refused.has(socket)) return
    refused.add(socket)
    const response = responses.get(socket)
    const isUnderWay = response !== undefined && !response.writableFinished
    if (isUnderWay && response.req.complete) {
      // The fault is behind a complete request, whose own answer must be sent.
      response.once('close', () => socket.destroy())
      return
    }
    if (!socket.writable || (isUnderWay && response.headersSent) || error.code === 'ECONNRESET') {
      socket.destroy()
      return
    }
    const code = CODES[error.code ?? ''] ?? 'invalid_request'
    const isSilent = code === 'request_timeout' && (socket as Socket).bytesRead === 0
    const answer = answerTo({ code, reason: error.code ?? 'unknown', isUnderWay, isSilent })
    if (isSilent) {
      socket.destroy()
      return
    }
    socket.end(bytesOf(answer))
    // Closing on unread bytes would reset the connection, and the client would see the reset instead of the answer.
    setTimeout(() => socket.destroy(), LINGER_MS).unref()
  })
}

function bytesOf(answer: BareAnswer): Buffer {
  const lines = [`HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}`]
  for (let at = 0; at + 1 < answer.headers.length; at += 2) {
    lines.push(`${answer.headers[at]}: ${answer.headers[at + 1]}`)
  }
  lines.push('connection: close', '', '')
  return Buffer.concat([Buffer.from(lines.join('\r\n')), Buffer.from(answer.body)])
}
