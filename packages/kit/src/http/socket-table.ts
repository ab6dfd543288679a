/** Limits on the TCP connections of a server; "socket" throughout, as a connection is a billing connection elsewhere. */
export interface SocketTableLimits {
  readonly maxSockets: number
  readonly maxPerAddress: number
  /** How long a request's body may arrive before its socket may be evicted, in milliseconds. */
  readonly slowAfterMs: number
}

/** Why a socket was closed to make room. */
export type Eviction = 'unused' | 'idle' | 'slow_request'

/** `limit` says what is exhausted: the sockets of one address, or those of the server. */
export type Admission<S> =
  | { readonly kind: 'admitted'; readonly evicted: Evicted<S> | null }
  | { readonly kind: 'refused'; readonly limit: Limit }

export type Limit = 'address' | 'server'

/** The socket that gives way to the admitted one; the table has forgotten it, the caller closes it. */
export interface Evicted<S> {
  readonly socket: S
  readonly address: string | null
  readonly reason: Eviction
  readonly limit: Limit
}

type Phase = 'unused' | 'idle' | 'busy'

interface Entry<S> {
  readonly socket: S
  /** What it counts for between requests; null where it does not count, because its peer is a trusted proxy. */
  readonly peer: string | null
  /** What it counts for now. */
  address: string | null
  phase: Phase
  /** Requests that are not answered yet; with pipelining more than one. */
  requests: number
  busySinceMs: number
  /** Whether the body of its latest request is still on its way. */
  isReceiving: () => boolean
}

/** Entries by phase; each set is in the order in which its entries entered the phase. */
class Shelf<S> {
  readonly unused = new Set<Entry<S>>()
  readonly idle = new Set<Entry<S>>()
  readonly busy = new Set<Entry<S>>()

  get size(): number {
    return this.unused.size + this.idle.size + this.busy.size
  }
}

/** Busy sockets that are looked at for a slow one. Older ones come first, so the slow ones are among the first. */
const MOST_LOOKED_AT = 100

/**
 * The open sockets of a server, and which one gives way when there are too many. The oldest that never carried a request goes
 * first, then the longest idle one, then the request whose body has been arriving for longest. A request that has arrived
 * is never cut off. An address that has reached its limit makes room among its own sockets.
 */
export class SocketTable<S> {
  readonly #limits: SocketTableLimits
  readonly #entries = new Map<S, Entry<S>>()
  readonly #all = new Shelf<S>()
  readonly #byAddress = new Map<string, Shelf<S>>()

  constructor(limits: SocketTableLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#entries.size
  }

  /** @param peer null where the address is not to be counted */
  open(socket: S, peer: string | null, nowMs: number): Admission<S> {
    const admission = this.#makeRoom(peer, nowMs)
    if (admission.kind === 'refused') return admission
    const entry = { socket, peer, address: peer, requests: 0, busySinceMs: 0, isReceiving: () => false }
    this.#entries.set(socket, this.#place({ ...entry, phase: 'unused' }))
    return admission
  }

  /**
   * A request begins.
   * @param forwardedFor the client's address where a trusted proxy names it; it counts while the request lasts
   */
  begin(socket: S, forwardedFor: string | null, isReceiving: () => boolean, nowMs: number): Admission<S> {
    const entry = this.#entries.get(socket)
    if (entry === undefined) return { kind: 'admitted', evicted: null }
    const address = forwardedFor ?? entry.address
    const admission: Admission<S> =
      address === entry.address ? { kind: 'admitted', evicted: null } : this.#makeRoomFor(address, nowMs)
    if (admission.kind === 'refused') return admission
    this.#remove(entry)
    if (entry.phase !== 'busy') entry.busySinceMs = nowMs
    entry.phase = 'busy'
    entry.requests += 1
    entry.isReceiving = isReceiving
    entry.address = address
    this.#place(entry)
    return admission
  }

  /** A request is answered, or was broken off. */
  end(socket: S): void {
    const entry = this.#entries.get(socket)
    if (entry === undefined) return
    entry.requests -= 1
    if (entry.requests > 0) return
    this.#remove(entry)
    entry.phase = 'idle'
    entry.address = entry.peer
    this.#place(entry)
  }

  close(socket: S): void {
    const entry = this.#entries.get(socket)
    if (entry === undefined) return
    this.#entries.delete(socket)
    this.#remove(entry)
  }

  #makeRoom(address: string | null, nowMs: number): Admission<S> {
    const admission = this.#makeRoomFor(address, nowMs)
    return admission.kind === 'refused' || this.size < this.#limits.maxSockets
      ? admission
      : this.#evictFrom(this.#all, 'server', nowMs)
  }

  #makeRoomFor(address: string | null, nowMs: number): Admission<S> {
    const shelf = address === null ? undefined : this.#byAddress.get(address)
    return shelf === undefined || shelf.size < this.#limits.maxPerAddress
      ? { kind: 'admitted', evicted: null }
      : this.#evictFrom(shelf, 'address', nowMs)
  }

  #evictFrom(shelf: Shelf<S>, limit: Limit, nowMs: number): Admission<S> {
    const found = this.#choose(shelf, nowMs)
    if (found === undefined) return { kind: 'refused', limit }
    const { socket, address } = found.entry
    this.close(socket)
    return { kind: 'admitted', evicted: { socket, address, reason: found.reason, limit } }
  }

  #choose(shelf: Shelf<S>, nowMs: number): { entry: Entry<S>; reason: Eviction } | undefined {
    for (const reason of ['unused', 'idle'] as const) {
      for (const entry of shelf[reason]) return { entry, reason }
    }
    let looked = 0
    for (const entry of shelf.busy) {
      if (nowMs - entry.busySinceMs < this.#limits.slowAfterMs || ++looked > MOST_LOOKED_AT) return undefined
      if (entry.isReceiving()) return { entry, reason: 'slow_request' }
    }
    return undefined
  }

  #place(entry: Entry<S>): Entry<S> {
    this.#all[entry.phase].add(entry)
    if (entry.address === null) return entry
    let shelf = this.#byAddress.get(entry.address)
    if (shelf === undefined) {
      shelf = new Shelf()
      this.#byAddress.set(entry.address, shelf)
    }
    shelf[entry.phase].add(entry)
    return entry
  }

  #remove(entry: Entry<S>): void {
    this.#all[entry.phase].delete(entry)
    if (entry.address === null) return
    const shelf = this.#byAddress.get(entry.address)
    shelf?.[entry.phase].delete(entry)
    if (shelf?.size === 0) this.#byAddress.delete(entry.address)
  }
}
