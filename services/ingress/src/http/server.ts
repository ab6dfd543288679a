import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type InvalidHttp, limitSockets, refuseInvalidHttp, type SocketLimitOptions } from '@backstop/kit/http'
import { type Answer, BAD_REQUEST, BODY_TIMEOUT, HEADERS_TOO_LARGE, OVERLOADED } from './answers.ts'
import { MAX_HEADERS, MAX_HEADERS_BYTES, MAX_REQUESTS_PER_SOCKET, SERVER_TIMES } from './limits.ts'
import type { RejectionReason } from './rejection-reasons.ts'
import { sendAnswerEarly } from './send-answer.ts'

const BAD_HTTP: Readonly<Record<InvalidHttp['code'], { answer: Answer; reason: RejectionReason }>> = {
  invalid_request: { answer: BAD_REQUEST, reason: 'bad_http' },
  headers_too_large: { answer: HEADERS_TOO_LARGE, reason: 'headers_too_large' },
  request_timeout: { answer: BODY_TIMEOUT, reason: 'too_slow' },
}

/** @param expectsContinue the client waits for "100 Continue" before it sends its body */
type RequestHandler = (request: IncomingMessage, response: ServerResponse, expectsContinue: boolean) => Promise<void>

export interface WebhookServerParts {
  readonly handle: RequestHandler
  readonly refuseEarly?: SocketLimitOptions['refuseEarly']
  /** Called for each request that does not reach the handler, with the status and the reason of its refusal. */
  readonly onRefused: (status: number, reason: RejectionReason) => void
  readonly sockets: Omit<SocketLimitOptions, 'maxRequestsPerSocket' | 'refuseEarly'>
}

export interface WebhookServer {
  readonly server: Server
  /** Writes log lines that the socket limits still hold back. Call it after the server is closed. */
  stop(): void
}

/** Creates the HTTP server around a handler. */
export function createWebhookServer({ handle, refuseEarly, onRefused, sockets }: WebhookServerParts): WebhookServer {
  const server = createServer({
    ...SERVER_TIMES,
    maxHeaderSize: MAX_HEADERS_BYTES,
    insecureHTTPParser: false,
    // The handler refuses a request without Host with a problem document. Node's own refusal has no body.
    requireHostHeader: false,
  })
  server.maxHeadersCount = MAX_HEADERS
  const limits = limitSockets(server, { ...sockets, refuseEarly, maxRequestsPerSocket: MAX_REQUESTS_PER_SOCKET })
  const serve = (expectsContinue: boolean) => (request: IncomingMessage, response: ServerResponse) => {
    const admission = limits.admit(request, response)
    switch (admission) {
      case 'handle':
        return void handle(request, response, expectsContinue)
      case 'refuse':
        onRefused(OVERLOADED.status, 'address_busy')
        return void sendAnswerEarly(request, response, OVERLOADED, sockets.clock)
      case 'ignore':
        return
      default:
        return admission satisfies never
    }
  }
  server.on('request', serve(false))
  server.on('checkContinue', serve(true))
  // A server may ignore any Expect header other than 100-continue (RFC 9110 §10.1.1).
  server.on('checkExpectation', serve(false))
  refuseInvalidHttp(server, bad => {
    const { answer, reason } = BAD_HTTP[bad.code]
    if (bad.isSilent) {
      onRefused(answer.status, 'silent')
      return answer
    }
    // If the body of a request turned out invalid, the handler records it, because the handler sees that the request broke off.
    if (!bad.isInFlight) onRefused(answer.status, reason)
    return answer
  })
  return { server, stop: () => limits.stop() }
}
