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
  /** Maximum number of open sockets; at the limit an idle socket is evicted. */
  readonly maxSockets: number
  /**
   * Maximum number of open sockets of one client address; at the limit a socket of the same address is evicted. Trusted
   * proxies are exempt.
   */
  readonly maxPerAddress: number
  /**
   * Maximum number of requests on one socket. The last answer contains `Connection: close`, and the socket is closed
   * after it.
   */
  readonly maxRequestsPerSocket: number
  readonly isTrustedProxy: IsTrustedProxy
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
}

/**
 * How to handle a request. `refuse`: its client has too many requests in flight; answer 503 and close. `ignore`: it
 * arrived after the last request of its socket, or on a closed socket, so it cannot be answered.
 */
export type RequestAdmission = 'handle' | 'refuse' | 'ignore'

export interface SocketLimits {
  /** Call it once for each request, before any other work. */
  admit(request: IncomingMessage, response: ServerResponse): RequestAdmission
  /** Writes the last log line. */
  stop(): void
}

/**
 * Maximum number of unanswered requests on one socket. Browsers, proxies and HTTP libraries send the next request after
 * the answer.
 */
const MAX_PIPELINED = 20
/** A body that takes longer to arrive, or an answer that takes longer to be read, is slow (in milliseconds). */
const SLOW_AFTER_MS = 1_000
/**
 * Time in which a new socket must send its first request, in milliseconds: longer than a TLS connection across the
 * world takes.
 */
const UNUSED_GRACE_MS = 2_000
/**
 * How much larger Node's own limit of sockets is: Node.js counts evicted sockets until they are closed, and must not
 * refuse new sockets in the meantime.
 */
const BURST_SOCKETS = 1_024
const FORWARDED_FOR = new Set(['x-forwarded-for'])

/**
 * Limits the sockets of a server and the requests on each socket. Node's own limits drop new connections and keep idle
 * ones, and leave a socket open after its last request.
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
    // In this case pipelined requests are limited only after all of them are parsed, which uses more memory.
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

/**
 * The key for limits per client, from the address stated by a trusted proxy; null if the peer is not a trusted proxy.
 */
function forwardedAddress(request: IncomingMessage, isTrustedProxy: IsTrustedProxy): string | null {
  const peer = request.socket.remoteAddress ?? ''
  if (!isTrustedProxy(peer)) return null
  const address = clientAddress(peer, headerValuesOf(request.rawHeaders, FORWARDED_FOR), isTrustedProxy)
  return isTrustedProxy(address) ? null : addressKey(address)
}
