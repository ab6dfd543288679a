import type { Clock } from '@backstop/kit'
import type { ChannelRecord, ChannelStore } from './channel-store.ts'

/** How old what is known of a channel may be, in milliseconds: so soon a changed or switched-off channel is noticed. */
const MAX_AGE_MS = 2_000

/** By channel id; undefined for one that does not exist. */
type Records = ReadonlyMap<string, ChannelRecord | undefined>

/** The channels that deliveries go to, read in one go for as many as are asked for in one moment. */
export class ChannelDirectory {
  readonly #store: Pick<ChannelStore, 'findChannels'>
  readonly #clock: Clock
  readonly #known = new Map<string, { record: ChannelRecord | undefined; readAtMs: number }>()
  #asked: { ids: Set<string>; read: Promise<Records> } | undefined

  constructor(store: Pick<ChannelStore, 'findChannels'>, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** What is known of these channels, at most two seconds old. */
  async find(channelIds: readonly string[]): Promise<Records> {
    const stale = channelIds.filter(id => this.#isStale(id))
    // Taken before anything is awaited: whoever reads meanwhile may make room by forgetting them.
    const found = new Map(channelIds.map(id => [id, this.#known.get(id)?.record]))
    if (stale.length === 0) return found
    const read = await this.#read(stale)
    for (const id of stale) found.set(id, read.get(id))
    return found
  }

  /** What this process itself just found out; the database says the same a moment later. */
  noteDisabled(channelId: string, reason: string): void {
    const known = this.#known.get(channelId)
    if (known?.record !== undefined) known.record = { ...known.record, disabledReason: reason }
  }

  /** The next one who asks reads anew: something of the channel was just changed. */
  forget(channelId: string): void {
    this.#known.delete(channelId)
  }

  #isStale(channelId: string): boolean {
    const known = this.#known.get(channelId)
    return known === undefined || this.#clock.now() - known.readAtMs > MAX_AGE_MS
  }

  /** Everybody who asks before the microtask runs shares one read. */
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
    if (this.#known.size > MAX_KNOWN) this.#known.clear()
    for (const id of ids) this.#known.set(id, { record: records.get(id), readAtMs })
    return records
  }
}

/** Beyond this many channels the memory is worth more than the reads. */
const MAX_KNOWN = 20_000
