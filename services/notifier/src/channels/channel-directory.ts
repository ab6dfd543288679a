import type { Clock } from '@backstop/kit/clock'
import type { ChannelRecord, ChannelStore } from './channel-store.ts'

/** Maximum age of a cached channel, in milliseconds: a changed or disabled channel is noticed after this time. */
const MAX_AGE_MS = 2_000

/** Channels by id; undefined for a channel that does not exist. */
type Records = ReadonlyMap<string, ChannelRecord | undefined>

/** A cache of the channels of deliveries. Lookups in the same microtask share one database read. */
export class ChannelDirectory {
  readonly #store: Pick<ChannelStore, 'findChannels'>
  readonly #clock: Clock
  readonly #known = new Map<string, { record: ChannelRecord | undefined; readAtMs: number }>()
  #asked: { ids: Set<string>; read: Promise<Records> } | undefined

  constructor(store: Pick<ChannelStore, 'findChannels'>, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** The channel as the cache has it, at most two seconds old; undefined if it must be read, or does not exist. */
  cached(channelId: string): ChannelRecord | undefined {
    return this.#isStale(channelId) ? undefined : this.#known.get(channelId)?.record
  }

  /** Returns these channels, at most two seconds old. */
  async find(channelIds: readonly string[]): Promise<Records> {
    const stale = channelIds.filter(id => this.#isStale(id))
    // Copied before the first `await`, because a concurrent call may evict these channels from the cache.
    const found = new Map(channelIds.map(id => [id, this.#known.get(id)?.record]))
    if (stale.length === 0) return found
    const read = await this.#read(stale)
    for (const id of stale) found.set(id, read.get(id))
    return found
  }

  /** Updates the cache with a channel that this process disables; the database write follows. */
  markDisabled(channelId: string, reason: string): void {
    const known = this.#known.get(channelId)
    if (known?.record !== undefined) known.record = { ...known.record, disabledReason: reason }
  }

  /** Evicts a channel that was changed, so that the next lookup reads it again. */
  forget(channelId: string): void {
    this.#known.delete(channelId)
  }

  /** Evicts channels that would be read again anyway. */
  #purge(): void {
    for (const id of this.#known.keys()) if (this.#isStale(id)) this.#known.delete(id)
    if (this.#known.size > MAX_KNOWN) this.#known.clear()
  }

  #isStale(channelId: string): boolean {
    const known = this.#known.get(channelId)
    return known === undefined || this.#clock.now() - known.readAtMs > MAX_AGE_MS
  }

  /** Lookups before the microtask runs share one read. */
  #read(ids: readonly string[]): Promise<Records> {
    if (this.#asked === undefined) {
      const asked = { ids: new Set<string>(), read: Promise.resolve<Records>(new Map()) }
      asked.read = Promise.resolve().then(() => {
        this.#asked = undefined
        return this.#load([...asked.ids])
      })
      this.#asked = asked
    }
    for (const id of ids) this.#asked.ids.add(id)
    return this.#asked.read
  }

  async #load(ids: readonly string[]): Promise<Records> {
    const readAtMs = this.#clock.now()
    const records = new Map((await this.#store.findChannels(ids)).map(record => [record.channel._id, record]))
    if (this.#known.size > PURGED_ABOVE) this.#purge()
    for (const id of ids) this.#known.set(id, { record: records.get(id), readAtMs })
    return records
  }
}

/** Number of cached channels beyond which stale ones are evicted, and beyond which all are, to limit memory. */
const PURGED_ABOVE = 1_000
const MAX_KNOWN = 20_000
