import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { ErrorCode } from '@backstop/contracts'

/** Why something that arrived never became a whole request. */
export interface BadHttp {
  readonly code: Extract<ErrorCode, 'invalid_request' | 'headers_too_large' | 'request_timeout'>
  /** For the log and the metric: Node's own word for it. */
  readonly reason: string
  /** It broke off in the body of a request that a handler is at work on, and that the handler sees broken off. */
  readonly isUnderWay: boolean
  /** The client connected and never sent a byte. It gets no answer: it asked for nothing, and thousands may be like it. */
  readonly isSilent: boolean
}

/** An answer for a connection on which Node has no response to write to. */
export interface BareAnswer {
  readonly status: number
  /** Names and values in turn, as http's writeHead takes them; `connection: close` comes of itself. */
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
 * Sees to it that what is no HTTP, or arrives too slowly, is answered like everything else: Node by itself answers without a
 * body. To be called when all other listeners of the server are there.
 * @param answerTo makes the answer, and may log it; called once a connection at most
 */
export function refuseBadHttp(server: Server, answerTo: (bad: BadHttp) => BareAnswer): void {
  const responses = new WeakMap<Duplex, ServerResponse>()
  const refused = new WeakSet<Duplex>()
  const remember = (request: IncomingMessage, response: ServerResponse) => void responses.set(request.socket, response)
  // Only where somebody listens: a listener for checkContinue alone would keep Node from answering "100 Continue".
  for (const event of ['request', 'checkContinue', 'checkExpectation'] as const) {
    if (server.listenerCount(event) > 0) server.prependListener(event, remember)
  }
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // What is left of the bad request fails to parse again and again while the answer is on its way.
    if (refused.has(socket)) return
    refused.add(socket)
    const response = responses.get(socket)
    const isUnderWay = response !== undefined && !response.writableFinished
    if (isUnderWay && response.req.complete) {
      // The fault lies behind a whole request, whose answer this must not take the place of.
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
