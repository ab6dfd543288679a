import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type BadHttp, refuseBadHttp } from '@backstop/kit'
import { type Answer, BAD_REQUEST, HEADERS_TOO_LARGE, MAX_HEADERS, MAX_HEADERS_BYTES, TOO_SLOW } from './answers.ts'

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
  maxHeaderSize: MAX_HEADERS_BYTES,
  insecureHTTPParser: false,
  // A request without Host is refused by the handler, with a problem document: Node's own refusal has no body.
  requireHostHeader: false,
} as const
const MAX_REQUESTS_PER_SOCKET = 1_000
const MAX_CONNECTIONS = 5_000

const BAD_HTTP: Readonly<Record<BadHttp['code'], { answer: Answer; reason: string }>> = {
  invalid_request: { answer: BAD_REQUEST, reason: 'bad_http' },
  headers_too_large: { answer: HEADERS_TOO_LARGE, reason: 'headers_too_large' },
  request_timeout: { answer: TOO_SLOW, reason: 'too_slow' },
}

/** @param expectsContinue the client waits for "100 Continue" before it sends its body */
export type Handle = (request: IncomingMessage, response: ServerResponse, expectsContinue: boolean) => Promise<void>

/** The HTTP server around a handler. `onBadRequest` is told of what never became a request. */
export function createWebhookServer(handle: Handle, onBadRequest: (status: number, reason: string) => void): Server {
  const server = createServer(LIMITS)
  server.maxHeadersCount = MAX_HEADERS
  server.maxRequestsPerSocket = MAX_REQUESTS_PER_SOCKET
  server.maxConnections = MAX_CONNECTIONS
  server.on('request', (request, response) => void handle(request, response, false))
  server.on('checkContinue', (request, response) => void handle(request, response, true))
  // Other expectations may be ignored (RFC 9110 §10.1.1).
  server.on('checkExpectation', (request, response) => void handle(request, response, false))
  refuseBadHttp(server, bad => {
    const { answer, reason } = BAD_HTTP[bad.code]
    // A request whose body turned out bad is recorded by its handler, which sees it broken off.
    if (!bad.isUnderWay) onBadRequest(answer.status, reason)
    return answer
  })
  return server
}
