import { type Server, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { type ErrorCode, newId } from '@backstop/contracts'
import { type Logger, PROBLEM_TYPE, problem } from '@backstop/kit'
import { SECURITY_HEADERS } from './security-headers.ts'

/** How long a connection that sent no valid HTTP stays open for its answer to be read, in milliseconds. */
const LINGER_MS = 1_000

const REFUSALS: Record<string, { code: ErrorCode; detail: string }> = {
  HPE_HEADER_OVERFLOW: { code: 'headers_too_large', detail: 'All headers together may hold 16 KiB at most' },
  ERR_HTTP_REQUEST_TIMEOUT: { code: 'request_timeout', detail: 'The request did not arrive whole in time' },
}
const NOT_HTTP = { code: 'invalid_request', detail: 'This is not a valid HTTP/1.1 request' } as const

/** Answers what never became a request as a problem document too: Node by itself answers without a body. */
export function refuseBadHttp(server: Server, logger: Logger): void {
  const refused = new WeakSet<Duplex>()
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // What is left of the bad request fails to parse again and again while the answer is on its way.
    if (refused.has(socket)) return
    refused.add(socket)
    const isUnderWay = (socket as { _httpMessage?: unknown })._httpMessage != null
    if (!socket.writable || isUnderWay || error.code === 'ECONNRESET') {
      socket.destroy()
      return
    }
    const { code, detail } = REFUSALS[error.code ?? ''] ?? NOT_HTTP
    const requestId = newId('request')
    logger.info({ request_id: requestId, code, reason: error.code }, 'http.bad_request')
    socket.end(bytesOf(code, detail, requestId))
    // Closing on unread bytes would reset the connection, and the client would see the reset instead of the answer.
    setTimeout(() => socket.destroy(), LINGER_MS).unref()
  })
}

function bytesOf(code: ErrorCode, detail: string, requestId: string): string {
  const body = problem(code, detail, { request_id: requestId })
  const text = JSON.stringify(body)
  const headers = {
    ...SECURITY_HEADERS,
    'content-type': PROBLEM_TYPE,
    'content-length': String(Buffer.byteLength(text)),
    'x-request-id': requestId,
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return [`HTTP/1.1 ${body.status} ${STATUS_CODES[body.status]}`, ...lines, '', text].join('\r\n')
}
