import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../clock/clock.ts'
import type { Logger } from '../logger.ts'
import type { Metrics } from '../ops/metrics.ts'
import { addressKey, createForwardedKeys, type IsTrustedProxy } from './client-address.ts'
import { DroppedSockets, type DropReason } from './dropped-sockets.ts'
import { headerValuesOf } from './header-values.ts'
import { clientDelay, UnreceivedAnswers } from './open-answers.ts'
import { guardParsing, type ParseDecision } from './parse-guard.ts'
import { hasShortBody } from './read-body.ts'
import { type ClientDelay, type SocketAdmission, SocketTable } from './socket-table.ts'

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
  /**
   * Called for each request, if its answer may be written before Node.js creates a response, which costs less than half. It keeps the socket
   * open, as a new one would cost more than the request. Called only for requests whose body is short or absent.
   * @returns the bytes of the answer with `Connection: keep-alive`, or undefined to handle the request
   */
  readonly refuseEarly?: ((request: IncomingMessage) => Buffer | undefined) | undefined
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
  server.maxConnections = options.maxSockets + BURST_SOCKETS
  server.maxRequestsPerSocket = 0
  const limiter = new SocketLimiter(options, server.keepAliveTimeout)
  server.on('connection', socket => limiter.accept(socket))
  server.on('drop', data => limiter.countDroppedByNode(data?.remoteAddress ?? ''))
  return limiter
}

/** The requests of one socket. */
interface SocketRequests {
  /** True if the peer is a trusted proxy. Kept, because parsing an address costs more than the rest of the admission. */
  readonly isFromProxy: boolean
  count: number
  /** Answers that the client has not received yet, in the order of the requests. */
  readonly unreceived: Set<ServerResponse>
  readonly delay: () => ClientDelay | null
}

class SocketLimiter implements SocketLimits {
  readonly #options: SocketLimitOptions
  readonly #keepAliveMs: number
  readonly #table: SocketTable<Socket>
  readonly #dropped: DroppedSockets
  readonly #open: ReturnType<Metrics['gauge']>
  readonly #answers: UnreceivedAnswers
  readonly #forwardedKeyOf: ReturnType<typeof createForwardedKeys>
  readonly #requests = new WeakMap<Socket, SocketRequests>()
  #isGuardUnavailable = false

  constructor(options: SocketLimitOptions, keepAliveMs: number) {
    this.#options = options
    this.#keepAliveMs = keepAliveMs
    this.#table = new SocketTable<Socket>({
      maxSockets: options.maxSockets,
      maxPerAddress: options.maxPerAddress,
      slowAfterMs: SLOW_AFTER_MS,
      unusedGraceMs: UNUSED_GRACE_MS,
    })
    this.#dropped = new DroppedSockets(options)
    this.#forwardedKeyOf = createForwardedKeys(options.isTrustedProxy)
    this.#open = options.metrics.gauge('http_sockets_open', 'Open TCP connections of clients', [])
    this.#answers = new UnreceivedAnswers(options.clock, socket => this.#drop(socket, 'unread_answer'))
  }

  accept(socket: Socket): void {
    const address = this.#countedAddress(socket)
    const admission = this.#table.open(socket, address, this.#options.clock.now())
    if (admission.kind === 'refused') {
      this.#dropped.add('refused', admission.limit, address)
      socket.destroy()
      return
    }
    this.#dropEvicted(admission)
    const unreceived = new Set<ServerResponse>()
    const isFromProxy = address === null
    const requests: SocketRequests = { isFromProxy, count: 0, unreceived, delay: () => clientDelay(unreceived) }
    this.#requests.set(socket, requests)
    this.#answers.watch(socket, unreceived)
    this.#guard(socket, requests)
    this.#open.set(this.#table.size)
    socket.once('close', () => {
      this.#table.close(socket)
      this.#answers.forget(socket)
      this.#open.set(this.#table.size)
    })
  }

  countDroppedByNode(remoteAddress: string): void {
    this.#dropped.add('refused', 'server', addressKey(remoteAddress))
  }

  admit(request: IncomingMessage, response: ServerResponse): RequestAdmission {
    const { clock, maxRequestsPerSocket } = this.#options
    const { socket } = request
    const requests = this.#requests.get(socket)
    if (requests === undefined || requests.count >= maxRequestsPerSocket) return 'ignore'
    requests.count += 1
    const { unreceived } = requests
    if (unreceived.size >= MAX_PIPELINED) {
      this.#drop(socket, 'pipelined')
      return 'ignore'
    }
    unreceived.add(response)
    if (requests.count === maxRequestsPerSocket) response.shouldKeepAlive = false
    const forwardedFor = requests.isFromProxy ? this.#forwardedKey(request) : null
    const admission = this.#table.begin(socket, forwardedFor, requests.delay, clock.now())
    if (admission.kind === 'refused') {
      response.on('close', () => unreceived.delete(response))
      this.#dropped.add('refused', admission.limit, forwardedFor)
      requests.count = maxRequestsPerSocket
      return 'refuse'
    }
    this.#dropEvicted(admission)
    response.on('close', () => {
      unreceived.delete(response)
      this.#table.end(socket)
    })
    return 'handle'
  }

  stop(): void {
    this.#answers.stop()
    this.#dropped.stop()
  }

  /** Null for a trusted proxy, which is not counted. */
  #countedAddress({ remoteAddress = '' }: Socket): string | null {
    return this.#options.isTrustedProxy(remoteAddress) ? null : addressKey(remoteAddress)
  }

  #forwardedKey({ socket, rawHeaders }: IncomingMessage): string | null {
    return this.#forwardedKeyOf(socket.remoteAddress ?? '', headerValuesOf(rawHeaders, FORWARDED_FOR))
  }

  #drop(socket: Socket, reason: DropReason): void {
    if (socket.destroyed) return
    this.#dropped.add(reason, 'socket', this.#countedAddress(socket))
    socket.destroy()
  }

  #dropEvicted(admission: SocketAdmission<Socket>): void {
    if (admission.kind === 'refused' || admission.evicted === null) return
    const { socket, address, reason, limit } = admission.evicted
    this.#dropped.add(`evicted_${reason}`, limit, address)
    socket.destroy()
  }

  /** Limits pipelined requests before they are parsed, and answers early. */
  #guard(socket: Socket, requests: SocketRequests): void {
    const isGuarded = guardParsing(socket, (request, isKeptAlive) => {
      if (!this.#mayParse(socket, requests)) return 'stop'
      return isKeptAlive ? this.#refuseEarly(socket, requests, request) : 'handle'
    })
    if (isGuarded || this.#isGuardUnavailable) return
    this.#isGuardUnavailable = true
    // In this case pipelined requests are limited only after all of them are parsed, which uses more memory.
    this.#options.logger.warn('http.parse_guard_unavailable')
  }

  #refuseEarly(socket: Socket, requests: SocketRequests, request: IncomingMessage): ParseDecision {
    const { refuseEarly, maxRequestsPerSocket } = this.#options
    // Answers keep the order of their requests. The last request of a socket, and a client that does not read, need a response.
    const isFree = requests.unreceived.size === 0 && socket.writableLength === 0
    if (!isFree || requests.count + 1 >= maxRequestsPerSocket || !hasShortBody(request)) return 'handle'
    const answer = refuseEarly?.(request)
    if (answer === undefined) return 'handle'
    if (requests.count === 0) this.#markUsed(socket)
    requests.count += 1
    socket.write(answer)
    return 'skip'
  }

  /** Does for a socket whose first request gets no response of Node.js what follows that response. */
  #markUsed(socket: Socket): void {
    socket.setTimeout(this.#keepAliveMs)
    this.#table.begin(socket, null, () => null, this.#options.clock.now())
    this.#table.end(socket)
  }

  #mayParse(socket: Socket, { count, unreceived }: SocketRequests): boolean {
    if (socket.destroyed || count >= this.#options.maxRequestsPerSocket) return false
    if (unreceived.size < MAX_PIPELINED) return true
    this.#drop(socket, 'pipelined')
    return false
  }
}
