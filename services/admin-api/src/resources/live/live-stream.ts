import type { Writable } from 'node:stream'
import { type Clock, sleep } from '@backstop/kit/clock'
import { AppError, isRetryable } from '@backstop/kit/errors'
import type { Logger } from '@backstop/kit/logger'
import type { Metrics } from '@backstop/kit/ops'
import { type ChangeFeed, PositionLost, type StoredChange } from '../../store/change-feed.ts'
import type { LiveEvent } from './live-events.ts'
import type { LiveHub, LiveNews } from './live-hub.ts'
import { formatEvent, formatHeartbeat, formatRetry } from './rules/event-text.ts'
import type { Slots } from './slots.ts'

export interface LiveStreamParts {
  readonly hub: LiveHub
  readonly feed: ChangeFeed
  readonly readEvents: (changes: readonly StoredChange[], now: Date) => Promise<LiveEvent[]>
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: LiveMetrics
  /** Runs few of the given functions at once. */
  readonly takeSlot: Slots
}

/** The client of one stream. */
export interface LiveClient {
  readonly principalId: string
  /** The position to resume after; undefined to begin now. */
  readonly after: string | undefined
  /**
   * The project whose events the client may see; undefined if it may see all projects.
   * @throws AppError if the client may no longer read
   */
  authorize(): Promise<string | undefined>
  /** Aborted when the client disconnects or the process stops. */
  readonly signal: AbortSignal
}

const RETRY_MS = 1_000
/** Shorter than the five seconds within which a revoked key must be refused. */
const AUTHORIZE_EVERY_MS = 4_000
/** Proxies usually close a connection that is silent for 30 to 60 s. */
const HEARTBEAT_EVERY_MS = 12_000
/** Bytes that wait for a client that reads slowly. Beyond, its connection is cut. It resumes where it was. */
const MAX_UNREAD_BYTES = 1_048_576
/** Bytes of new events that wait until the missed ones are sent. Beyond, the client must load everything again. */
const MAX_HELD_BYTES = 1_048_576
/** How much a client may have missed. Beyond, loading everything again is quicker. */
const MAX_MISSED_CHANGES = 20_000
/** How long a client waits for its turn and reads what it missed, in milliseconds. */
const CATCH_UP_WITHIN_MS = 30_000
/** How long this process waits to see a change that another replica has sent already, in milliseconds. */
const REACH_WITHIN_MS = 10_000

/**
 * Sends events to one client until it leaves, may no longer read, reads too slowly or the process stops. Event ids only grow, so no
 * event is sent twice. The checks and heartbeats begin before the missed changes are read, which takes long.
 */
export class LiveStream {
  readonly #parts: LiveStreamParts
  readonly #client: LiveClient
  readonly #out: Writable
  readonly #end = new AbortController()
  /** Aborted when the stream ends, for any reason. */
  readonly #signal: AbortSignal
  /** Aborted with the reason if the missed changes cannot all be sent. */
  readonly #lost = new AbortController()
  readonly #catching: AbortSignal
  /** New events until the missed changes are sent. */
  readonly #held = createHeldEvents(MAX_HELD_BYTES)
  #isBehind = true
  #isCut = false
  /** The project whose events the client may see; undefined for all. */
  #projectId: string | undefined
  /** The last position that the client knows. */
  #sent: string
  /** True if the client had not read everything at the last heartbeat. */
  #hadUnread = false

  constructor(parts: LiveStreamParts, client: LiveClient, out: Writable) {
    this.#parts = parts
    this.#client = client
    this.#out = out
    this.#signal = AbortSignal.any([client.signal, this.#end.signal])
    this.#catching = AbortSignal.any([this.#signal, this.#lost.signal])
    this.#sent = client.after ?? ''
  }

  /**
   * Resolves when the stream has ended.
   * @throws AppError before anything is sent
   */
  async run(): Promise<void> {
    const { hub, metrics } = this.#parts
    this.#projectId = await this.#client.authorize()
    const { position: present, leave } = await hub.join(news => this.#listen(news), this.#signal)
    metrics.opened(this.#client.after !== undefined)
    try {
      this.#out.write(formatRetry(RETRY_MS))
      // Reading may hang in the database; the stream ends in time all the same.
      const attending = this.#attend()
      await Promise.race([attending, this.#begin(present)])
      await attending
    } finally {
      metrics.closed()
      leave()
      this.#end.abort()
      if (this.#isCut) this.#out.destroy()
      else this.#out.end()
    }
  }

  #listen(news: LiveNews): void {
    if (!this.#isBehind) this.#send(news)
    else if (news.kind === 'reset' || !news.events.filter(event => this.#isVisible(event)).every(this.#held.add)) {
      this.#lost.abort(new PositionLost())
    }
  }

  #isVisible({ position, projectId }: LiveEvent): boolean {
    return position > this.#sent && (this.#projectId === undefined || projectId === this.#projectId)
  }

  #send(news: LiveNews): void {
    if (this.#signal.aborted) return
    if (news.kind === 'reset') {
      this.#sendReset(news.position)
      return
    }
    const text = news.events
      .filter(event => this.#isVisible(event))
      .map(event => formatEvent({ id: event.position, type: event.type, data: event.data }))
    if (text.length > 0) this.#out.write(text.join(''))
    if (news.position > this.#sent) this.#sent = news.position
    if (this.#out.writableLength > MAX_UNREAD_BYTES) this.#cutOff('slow_reader')
  }

  #sendReset(position: string): void {
    this.#sent = position
    this.#parts.metrics.reset()
    this.#out.write(formatEvent({ id: position, type: 'reset', data: '{"reason":"position_lost"}' }))
  }

  async #begin(present: string): Promise<void> {
    await this.#catchUp(present)
    if (!this.#signal.aborted) this.#out.write(formatHeartbeat(this.#sent))
  }

  /** Sends the missed changes, then the held events; or a reset if that takes too long or too much memory. */
  async #catchUp(present: string): Promise<void> {
    const { clock, hub } = this.#parts
    const caughtUp = new AbortController()
    const late = () => this.#lost.abort(new PositionLost())
    void sleep(clock, CATCH_UP_WITHIN_MS, AbortSignal.any([this.#signal, caughtUp.signal])).then(late)
    try {
      await Promise.race([this.#sendMissed(present), rejection(this.#lost.signal)])
    } catch (error) {
      if (this.#signal.aborted) return
      if (!(error instanceof PositionLost)) throw error
      // The reset stands for all changes up to now, those that are still being read included.
      this.#lost.abort(error)
      this.#held.clear()
      this.#sendReset(hub.position ?? present)
    } finally {
      this.#isBehind = false
      caughtUp.abort()
    }
  }

  async #sendMissed(present: string): Promise<void> {
    const { after } = this.#client
    if (after === undefined) this.#sent = present
    else {
      await this.#parts.takeSlot(() => this.#readMissed(after, present), this.#catching)
      // The client was connected to a replica that was ahead of this one.
      if (after > present) await this.#reach(after)
    }
    for (let event = this.#held.take(); event !== undefined; event = this.#held.take()) {
      this.#send({ kind: 'events', events: [event], position: event.position })
      await this.#untilDrained()
      this.#catching.throwIfAborted()
    }
    this.#isBehind = false
  }

  async #reach(after: string): Promise<void> {
    const isReached = (at: string | undefined) => at !== undefined && at >= after
    const reached = await this.#parts.hub.waitFor(isReached, REACH_WITHIN_MS, this.#catching)
    if (reached === undefined) throw new PositionLost()
  }

  async #readMissed(after: string, present: string): Promise<void> {
    const { feed, readEvents, clock } = this.#parts
    this.#catching.throwIfAborted()
    const cursor = await feed.open(after)
    let missed = 0
    try {
      while (cursor.position < present) {
        const changes = await cursor.next()
        missed += changes.length
        if (missed > MAX_MISSED_CHANGES) throw new PositionLost()
        const { position } = cursor
        const events = await readEvents(changes, new Date(clock.now()))
        this.#catching.throwIfAborted()
        this.#send({ kind: 'events', events, position })
        await this.#untilDrained()
        this.#catching.throwIfAborted()
      }
    } finally {
      await cursor.close()
    }
  }

  async #untilDrained(): Promise<void> {
    while (this.#out.writableNeedDrain && !this.#catching.aborted) await sleep(this.#parts.clock, 20, this.#catching)
  }

  /** Repeats the checks of the client, and sends heartbeats. */
  async #attend(): Promise<void> {
    const { clock } = this.#parts
    let heartbeatAt = clock.now() + HEARTBEAT_EVERY_MS
    while (!this.#signal.aborted) {
      await sleep(clock, AUTHORIZE_EVERY_MS, this.#signal)
      if (this.#signal.aborted || !(await this.#isStillAllowed()) || clock.now() < heartbeatAt) continue
      heartbeatAt = clock.now() + HEARTBEAT_EVERY_MS
      this.#sendHeartbeat()
    }
  }

  #sendHeartbeat(): void {
    if (this.#isBehind) {
      // Missed changes are sent as fast as the client reads, and it must not skip them.
      this.#out.write(formatHeartbeat(undefined))
      return
    }
    const hasUnread = this.#out.writableLength > 0
    if (hasUnread && this.#hadUnread) this.#cutOff('slow_reader')
    this.#hadUnread = hasUnread
    const at = this.#parts.hub.position
    if (at !== undefined && at > this.#sent) this.#sent = at
    this.#out.write(formatHeartbeat(this.#sent))
  }

  async #isStillAllowed(): Promise<boolean> {
    try {
      this.#projectId = await this.#client.authorize()
      return true
    } catch (error) {
      // While the database is unavailable, there are no events either.
      if (isRetryable(error)) return true
      this.#cutOff(error instanceof AppError ? error.code : 'internal')
      return false
    }
  }

  #cutOff(reason: string): void {
    if (this.#signal.aborted) return
    this.#isCut = true
    this.#parts.metrics.cut(reason)
    this.#parts.logger.info({ principal_id: this.#client.principalId, reason }, 'live.cut')
    this.#end.abort()
  }
}

/** Rejects with the reason of the signal when it is aborted. */
function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const fail = () => reject(signal.reason)
    if (signal.aborted) fail()
    else signal.addEventListener('abort', fail, { once: true })
  })
}

/** Bytes of an event besides its data, about. */
const EVENT_BYTES = 300

/** A limited amount of events that wait to be sent. */
export interface HeldEvents {
  /** @returns false if the limit is reached; then the event is not held */
  add(event: LiveEvent): boolean
  /** Removes the oldest event. */
  take(): LiveEvent | undefined
  clear(): void
}

/** Creates an empty queue of events. */
export function createHeldEvents(maxBytes: number): HeldEvents {
  let events: LiveEvent[] = []
  let bytes = 0
  const sizeOf = ({ data }: LiveEvent) => EVENT_BYTES + data.length
  return {
    add(event) {
      if (bytes + sizeOf(event) > maxBytes) return false
      bytes += sizeOf(event)
      events.push(event)
      return true
    },
    take() {
      const event = events.shift()
      if (event !== undefined) bytes -= sizeOf(event)
      return event
    },
    clear() {
      events = []
      bytes = 0
    },
  }
}

/** Counts live streams. */
export interface LiveMetrics {
  opened(isResumed: boolean): void
  closed(): void
  /** A client must load everything again. */
  reset(): void
  /** A stream is ended by this process. @param reason `slow_reader` or the error code of the refusal */
  cut(reason: string): void
}

export function createLiveMetrics(metrics: Metrics): LiveMetrics {
  const open = metrics.gauge('live_streams_open', 'Live streams that are open', [])
  const opened = metrics.counter('live_streams_total', 'Live streams that began, by whether they resumed', ['resumed'])
  const resets = metrics.counter('live_resets_total', 'Clients that must load everything again', [])
  const cuts = metrics.counter('live_cuts_total', 'Live streams that admin-api cut, by reason', ['reason'])
  return {
    opened(isResumed) {
      open.inc()
      opened.inc({ resumed: String(isResumed) })
    },
    closed: () => open.dec(),
    reset: () => resets.inc(),
    cut: reason => cuts.inc({ reason }),
  }
}
