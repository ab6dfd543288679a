import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { ErrorCode } from '@backstop/contracts'

/** Received bytes that are not a whole valid request. */
export interface InvalidHttp {
  readonly code: Extract<ErrorCode, 'invalid_request' | 'headers_too_large' | 'request_timeout'>
  /** Node's error code, for the log and the metric. */
  readonly reason: string
  /** True if the fault interrupted the body of a request in flight, whose handler sees the interruption. */
  readonly isInFlight: boolean
  /**
   * True if the client never sent a byte. Such a connection gets no answer, because it requested nothing and there may
   * be thousands.
   */
  readonly isSilent: boolean
}

/** An answer for a connection without a response object of Node.js. */
export interface RawAnswer {
  readonly status: number
  /** Alternating names and values, as for http's writeHead, without `connection`. */
  readonly headers: readonly string[]
  readonly body: string | Buffer
}

/** How long a connection with invalid HTTP stays open so that its client can read the answer, in milliseconds. */
const LINGER_MS = 1_000

const CODES: Readonly<Record<string, InvalidHttp['code']>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
}

/**
 * Answers invalid or too slow HTTP with a complete answer, because Node's own answer has no body. Call it after all
 * other listeners of the server are added.
 * @param answerTo creates the answer, and may log it; called at most once per connection
 */
export function refuseInvalidHttp(server: Server, answerTo: (bad: InvalidHttp) => RawAnswer): void {
  const responses = new WeakMap<Duplex, ServerResponse>()
  const refused = new WeakSet<Duplex>()
  const remember = (request: IncomingMessage, response: ServerResponse) => void responses.set(request.socket, response)
  // Only events that have a listener already: a listener of ours alone for checkContinue would stop Node.js from
  // answering "100 Continue".
  for (const event of ['request', 'checkContinue', 'checkExpectation'] as const) {
    if (server.listenerCount(event) > 0) server.prependListener(event, remember)
  }
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // The rest of the invalid request causes further parse errors while the answer is sent.
    if (refused.has(socket)) return
    refused.add(socket)
    const response = responses.get(socket)
    const isInFlight = response !== undefined && !response.writableFinished
    if (isInFlight && response.req.complete) {
      // The fault follows a complete request, whose own answer must be sent first.
      response.once('close', () => socket.destroy())
      return
    }
    if (!socket.writable || (isInFlight && response.headersSent) || error.code === 'ECONNRESET') {
      socket.destroy()
      return
    }
    const code = CODES[error.code ?? ''] ?? 'invalid_request'
    const isSilent = code === 'request_timeout' && (socket as Socket).bytesRead === 0
    const answer = answerTo({ code, reason: error.code ?? 'unknown', isInFlight, isSilent })
    if (isSilent) {
      socket.destroy()
      return
    }
    socket.end(answerBytes(answer, 'close'))
    // Closing with unread bytes would reset the connection, and the client would see the reset instead of the answer.
    setTimeout(() => socket.destroy(), LINGER_MS).unref()
  })
}

/** The bytes of an answer that is written without a response object. */
export function answerBytes(answer: RawAnswer, connection: 'close' | 'keep-alive'): Buffer {
  const lines = [`HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}`]
  for (let at = 0; at + 1 < answer.headers.length; at += 2) {
    lines.push(`${answer.headers[at]}: ${answer.headers[at + 1]}`)
  }
  lines.push(`connection: ${connection}`, '', '')
  return Buffer.concat([Buffer.from(lines.join('\r\n')), Buffer.from(answer.body)])
}
