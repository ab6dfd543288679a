import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../clock/clock.ts'
import type { Logger } from '../logger.ts'
import type { Metrics } from '../ops/metrics.ts'
import { addressKey, clientAddress, type IsTrustedProxy } from './client-address.ts'
import { DroppedSockets, type DropReason } from './dropped-sockets.ts'
import { headerValuesOf } from './header-values.ts'
import { OpenAnswers } from './open-answers.ts'
import { guardParsing } from './parse-guard.ts'
import { type Admission, SocketTable } from './socket-table.ts'

export interface SocketLimitOptions {
  /** Beyond it, an idle socket is evicted. */
  readonly maxSockets: number
  /** For one address; beyond it, a socket of that address is evicted. Trusted proxies are not counted. */
  readonly maxPerAddress: number
  /** The last answer says `Connection: close`, and the socket is closed after it. */
  readonly maxRequestsPerSocket: number
  readonly isTrustedProxy: IsTrustedProxy
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
}

/**
 * What to do with a request. `refuse`: its client has too many requests in flight; answer 503 and close. `ignore`: it came after the last request of its
 * socket, or on a closed socket, so no answer can be sent.
 */
export type RequestAdmission = 'handle' | 'refuse' | 'ignore'

export interface SocketLimits {
  /** Call it once for each request, before any other work. */
  admit(request: IncomingMessage, response: ServerResponse): RequestAdmission
  /** Writes the last line of the log. */
  stop(): void
}

/** Most unanswered requests of one socket. Browsers, proxies and HTTP libraries send the next request after the answer. */
const MAX_PIPELINED = 20
/** A body that takes longer to arrive, or an answer that takes longer to be read, is slow. */
const SLOW_AFTER_MS = 1_000
/** Longer than a connection with TLS across the world takes, after which an honest client sends its request. */
const UNUSED_GRACE_MS = 2_000
/**
 * Room above our limit in Node's own: it counts evicted sockets until they have closed, and must not refuse new ones meanwhile.
 */
const BURST_SOCKETS = 1_024
const FORWARDED_FOR = new Set(['x-forwarded-for'])

/**
 * Limits the sockets of a server and the requests of each socket. Node's own limits drop new connections and keep idle ones, and leave a socket open
 * after its last request.
 */
export function limitSockets(server: Server, options: SocketLimitOptions): SocketLimits {
  const { clock, isTrustedProxy, maxRequestsPerSocket } = options
  const table = new SocketTable<Socket>({
    maxSockets: options.maxSockets,
    maxPerAddress: options.maxPerAddress,
    slowAfterMs: SLOW_AFTER_MS,
    unusedGraceMs: UNUSED_GRACE_MS,
  })
  const dropped = new DroppedSockets(options)
  const open = options.metrics.gauge('http_sockets_open', 'Open TCP connections of clients', [])
  const requests = new WeakMap<Socket, number>()
  server.maxConnections = options.maxSockets + BURST_SOCKETS
  server.maxRequestsPerSocket = 0

  const countedAddress = (socket: Socket): string | null => {
    const { remoteAddress = '' } = socket
    return isTrustedProxy(remoteAddress) ? null : addressKey(remoteAddress)
  }
  const drop = (socket: Socket, reason: DropReason) => {
    if (socket.destroyed) return
    dropped.add(reason, 'socket', countedAddress(socket))
    socket.destroy()
  }
  const answers = new OpenAnswers(clock, socket => drop(socket, 'unread_answer'))
  let isGuardUnavailable = false
  const guard = (socket: Socket) => {
    const isGuarded = guardParsing(socket, () => {
      if (socket.destroyed || (requests.get(socket) ?? 0) >= maxRequestsPerSocket) return false
      if (answers.countOf(socket) < MAX_PIPELINED) return true
      drop(socket, 'pipelined')
      return false
    })
    if (isGuarded || isGuardUnavailable) return
    isGuardUnavailable = true
    // Pipelined requests are then limited only after all of them are parsed, which uses more memory.
    options.logger.warn('http.parse_guard_unavailable')
  }
  const dropEvicted = (admission: Admission<Socket>) => {
    if (admission.kind === 'refused' || admission.evicted === null) return
    const { socket, address, reason, limit } = admission.evicted
    dropped.add(`evicted_${reason}`, limit, address)
    socket.destroy()
  }

  server.on('connection', socket => {
    const address = countedAddress(socket)
    const admission = table.open(socket, address, clock.now())
    if (admission.kind === 'refused') {
      dropped.add('refused', admission.limit, address)
      socket.destroy()
      return
    }
    dropEvicted(admission)
    guard(socket)
    open.set(table.size)
    socket.once('close', () => {
      table.close(socket)
      answers.forget(socket)
      open.set(table.size)
    })
  })
  server.on('drop', data => dropped.add('refused', 'server', addressKey(data?.remoteAddress ?? '')))

  return {
    admit(request, response) {
      const { socket } = request
      const count = (requests.get(socket) ?? 0) + 1
      requests.set(socket, count)
      if (count > maxRequestsPerSocket) return 'ignore'
      if (answers.countOf(socket) >= MAX_PIPELINED) {
        drop(socket, 'pipelined')
        return 'ignore'
      }
      answers.add(socket, response)
      if (count === maxRequestsPerSocket) response.shouldKeepAlive = false
      const forwardedFor = forwardedAddress(request, isTrustedProxy)
      const admission = table.begin(socket, forwardedFor, () => answers.delayOf(socket), clock.now())
      if (admission.kind === 'refused') {
        dropped.add('refused', admission.limit, forwardedFor)
        requests.set(socket, maxRequestsPerSocket)
        return 'refuse'
      }
      dropEvicted(admission)
      response.once('close', () => table.end(socket))
      return 'handle'
    },
    stop() {
      answers.stop()
      dropped.stop()
    },
  }
}

/** The key of the request's client for limits; null when no trusted proxy states it. */
function forwardedAddress(request: IncomingMessage, isTrustedProxy: IsTrustedProxy): string | null {
  const peer = request.socket.remoteAddress ?? ''
  if (!isTrustedProxy(peer)) return null
  const address = clientAddress(peer, headerValuesOf(request.rawHeaders, FORWARDED_FOR), isTrustedProxy)
  return isTrustedProxy(address) ? null : addressKey(address)
}
