/**
 * Limits on the TCP connections of a server, called sockets here because "connection" means a billing connection
 * elsewhere.
 */
export interface SocketTableLimits {
  readonly maxSockets: number
  readonly maxPerAddress: number
  /** How long a client may delay its request or its answer before its socket may be evicted, in milliseconds. */
  readonly slowAfterMs: number
  /**
   * Time for the first request of a new socket, in milliseconds. After it, the socket is evicted before an idle one.
   */
  readonly unusedGraceMs: number
}

/** The reason why a socket was closed to free a slot. */
export type Eviction = 'unused' | 'idle' | ClientDelay

/** A delay caused by a client: the body of its request arrives slowly, or it does not read its answer. */
export type ClientDelay = 'slow_request' | 'unread_answer'

/**
 * The result of opening a socket or starting a request. `limit` is the exhausted limit: the sockets of one address, or
 * of the server.
 */
export type SocketAdmission<S> =
  | { readonly kind: 'admitted'; readonly evicted: Evicted<S> | null }
  | { readonly kind: 'refused'; readonly limit: Limit }

export type Limit = 'address' | 'server'

/** The socket that is evicted for the admitted one. The table has removed it; the caller must close it. */
interface Evicted<S> {
  readonly socket: S
  readonly address: string | null
  readonly reason: Eviction
  readonly limit: Limit
}

const ADMITTED = { kind: 'admitted', evicted: null } as const

type Phase = 'unused' | 'idle' | 'busy'

interface Entry<S> {
  readonly socket: S
  /** The address that this socket counts against while idle; null for a trusted proxy. */
  readonly peer: string | null
  /** The address that this socket counts against now. */
  address: string | null
  readonly openedAtMs: number
  phase: Phase
  /** Number of unanswered requests; with pipelining more than one. */
  requests: number
  busySinceMs: number
  /** Returns the delay caused by the client; null while a request waits for the server. */
  delay: () => ClientDelay | null
}

/** Entries by phase. Each set is in the order in which its entries entered the phase. */
class EntriesByPhase<S> {
  readonly unused = new Set<Entry<S>>()
  readonly idle = new Set<Entry<S>>()
  readonly busy = new Set<Entry<S>>()
  /** When the last search among the busy sockets found none to evict. */
  searchedAtMs = Number.NEGATIVE_INFINITY

  get size(): number {
    return this.unused.size + this.idle.size + this.busy.size
  }
}

/**
 * Minimum interval of searches, in milliseconds: a flood of new sockets must not search thousands of requests in flight
 * for each new socket.
 */
const SEARCH_EVERY_MS = 100

/**
 * The open sockets of a server, and the choice of the socket to evict at a limit, in this order: the oldest socket
 * without a request after the grace period, the longest idle one, the oldest new one, and the one whose client has
 * delayed its request or its answer for longest. A request that waits for the server is never cut off. The grace period
 * protects the new sockets of honest clients from eviction before the idle sockets of an attacker. At the limit of an
 * address, one of its own sockets is evicted.
 */
export class SocketTable<S> {
  readonly #limits: SocketTableLimits
  readonly #entries = new Map<S, Entry<S>>()
  readonly #all = new EntriesByPhase<S>()
  readonly #byAddress = new Map<string, EntriesByPhase<S>>()

  constructor(limits: SocketTableLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#entries.size
  }

  /** @param peer null if the address must not be counted */
  open(socket: S, peer: string | null, nowMs: number): SocketAdmission<S> {
    const admission = this.#makeRoom(peer, nowMs)
    if (admission.kind === 'refused') return admission
    const entry: Entry<S> = {
      socket,
      peer,
      address: peer,
      openedAtMs: nowMs,
      phase: 'unused',
      requests: 0,
      busySinceMs: 0,
      delay: () => null,
    }
    this.#entries.set(socket, entry)
    this.#insert(entry)
    return admission
  }

  /**
   * Records the start of a request.
   * @param forwardedFor the client's address, if a trusted proxy states it. The socket counts against this address until the request ends.
   * @param delay returns how long the client has delayed the socket; null while a request of the socket waits for the server
   */
  begin(socket: S, forwardedFor: string | null, delay: () => ClientDelay | null, nowMs: number): SocketAdmission<S> {
    const entry = this.#entries.get(socket)
    if (entry === undefined) return ADMITTED
    const address = forwardedFor ?? entry.address
    const admission = address === entry.address ? ADMITTED : this.#makeRoomFor(address, nowMs)
    if (admission.kind === 'refused') return admission
    if (entry.phase !== 'busy') entry.busySinceMs = nowMs
    entry.requests += 1
    entry.delay = delay
    this.#move(entry, 'busy', address)
    return admission
  }

  /** Records that a request was answered or interrupted. */
  end(socket: S): void {
    const entry = this.#entries.get(socket)
    if (entry === undefined) return
    entry.requests -= 1
    if (entry.requests === 0) this.#move(entry, 'idle', entry.peer)
  }

  close(socket: S): void {
    const entry = this.#entries.get(socket)
    if (entry === undefined) return
    this.#entries.delete(socket)
    this.#remove(entry)
  }

  #makeRoom(address: string | null, nowMs: number): SocketAdmission<S> {
    const admission = this.#makeRoomFor(address, nowMs)
    return admission.kind === 'refused' || this.size < this.#limits.maxSockets
      ? admission
      : this.#evictFrom(this.#all, 'server', nowMs)
  }

  #makeRoomFor(address: string | null, nowMs: number): SocketAdmission<S> {
    const shelf = address === null ? undefined : this.#byAddress.get(address)
    return shelf === undefined || shelf.size < this.#limits.maxPerAddress
      ? ADMITTED
      : this.#evictFrom(shelf, 'address', nowMs)
  }

  #evictFrom(shelf: EntriesByPhase<S>, limit: Limit, nowMs: number): SocketAdmission<S> {
    const found = this.#choose(shelf, nowMs)
    if (found === undefined) return { kind: 'refused', limit }
    const { socket, address } = found.entry
    this.close(socket)
    return { kind: 'admitted', evicted: { socket, address, reason: found.reason, limit } }
  }

  #choose(shelf: EntriesByPhase<S>, nowMs: number): { entry: Entry<S>; reason: Eviction } | undefined {
    const [unused] = shelf.unused
    const isOverdue = unused !== undefined && nowMs - unused.openedAtMs >= this.#limits.unusedGraceMs
    if (isOverdue) return { entry: unused, reason: 'unused' }
    const [idle] = shelf.idle
    if (idle !== undefined) return { entry: idle, reason: 'idle' }
    if (unused !== undefined) return { entry: unused, reason: 'unused' }
    // The absolute difference, because the clock may have been set back.
    if (Math.abs(nowMs - shelf.searchedAtMs) < SEARCH_EVERY_MS) return undefined
    for (const entry of shelf.busy) {
      if (nowMs - entry.busySinceMs < this.#limits.slowAfterMs) break
      const reason = entry.delay()
      if (reason !== null) return { entry, reason }
    }
    shelf.searchedAtMs = nowMs
    return undefined
  }

  #move(entry: Entry<S>, phase: Phase, address: string | null): void {
    const { phase: lastPhase, address: lastAddress } = entry
    if (phase === lastPhase && address === lastAddress) return
    if (phase !== lastPhase) {
      this.#all[lastPhase].delete(entry)
      this.#all[phase].add(entry)
    }
    entry.phase = phase
    entry.address = address
    // First to the new place, so that the sets of an address with one socket are not made again for every request.
    this.#addToAddress(entry)
    this.#removeFromAddress(entry, lastPhase, lastAddress)
  }

  #insert(entry: Entry<S>): void {
    this.#all[entry.phase].add(entry)
    this.#addToAddress(entry)
  }

  #remove(entry: Entry<S>): void {
    this.#all[entry.phase].delete(entry)
    this.#removeFromAddress(entry, entry.phase, entry.address)
  }

  #addToAddress(entry: Entry<S>): void {
    if (entry.address === null) return
    let shelf = this.#byAddress.get(entry.address)
    if (shelf === undefined) {
      shelf = new EntriesByPhase()
      this.#byAddress.set(entry.address, shelf)
    }
    shelf[entry.phase].add(entry)
  }

  #removeFromAddress(entry: Entry<S>, phase: Phase, address: string | null): void {
    if (address === null) return
    const shelf = this.#byAddress.get(address)
    shelf?.[phase].delete(entry)
    if (shelf?.size === 0) this.#byAddress.delete(address)
  }
}
