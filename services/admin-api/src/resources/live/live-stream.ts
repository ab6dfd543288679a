import type { Writable } from 'node:stream'
import { AppError, type Clock, isRetryable, type Logger, sleep } from '@backstop/kit'
import { type ChangeFeed, PositionLost, type StoredChange } from '../../store/change-feed.ts'
import { createHeldEvents } from './held-events.ts'
import type { LiveEvent } from './live-events.ts'
import type { LiveHub, LiveNews } from './live-hub.ts'
import type { LiveMetrics } from './live-metrics.ts'
import { formatEvent, formatHeartbeat, formatRetry } from './rules/event-text.ts'
import type { Turns } from './turns.ts'

export interface LiveStreamParts {
  readonly hub: LiveHub
  readonly feed: ChangeFeed
  readonly readEvents: (changes: readonly StoredChange[], now: Date) => Promise<LiveEvent[]>
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: LiveMetrics
  /** Runs few of the given functions at once. */
  readonly takeTurn: Turns
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
 * @throws AppError before anything is sent
 */
export async function streamEvents(parts: LiveStreamParts, client: LiveClient, out: Writable): Promise<void> {
  const { hub, clock, logger, metrics } = parts
  const end = new AbortController()
  const signal = AbortSignal.any([client.signal, end.signal])
  let isCut = false
  let projectId = await client.authorize()
  /** The last position that the client knows. */
  let sent = client.after ?? ''
  /** True until the missed changes are sent. New events are held until then. */
  let isBehind = true
  const held = createHeldEvents(MAX_HELD_BYTES)
  /** Aborted with the reason if the missed changes cannot all be sent. */
  const giveUp = new AbortController()
  const catching = AbortSignal.any([signal, giveUp.signal])

  const { position: present, leave } = await hub.join(listen, signal)
  metrics.opened(client.after !== undefined)
  try {
    out.write(formatRetry(RETRY_MS))
    // Reading may hang in the database; the stream ends in time all the same.
    const attending = attend()
    await Promise.race([attending, begin()])
    await attending
  } finally {
    metrics.closed()
    leave()
    end.abort()
    if (isCut) out.destroy()
    else out.end()
  }

  function listen(news: LiveNews): void {
    if (!isBehind) send(news)
    else if (news.kind === 'reset' || !news.events.filter(isVisible).every(held.add)) giveUp.abort(new PositionLost())
  }

  function isVisible(event: LiveEvent): boolean {
    return event.position > sent && (projectId === undefined || event.projectId === projectId)
  }

  function send(news: LiveNews): void {
    if (signal.aborted) return
    if (news.kind === 'reset') {
      sendReset(news.position)
      return
    }
    const text = news.events
      .filter(isVisible)
      .map(event => formatEvent({ id: event.position, type: event.type, data: event.data }))
    if (text.length > 0) out.write(text.join(''))
    if (news.position > sent) sent = news.position
    if (out.writableLength > MAX_UNREAD_BYTES) cutOff('slow_reader')
  }

  function sendReset(position: string): void {
    sent = position
    metrics.reset()
    out.write(formatEvent({ id: position, type: 'reset', data: '{"reason":"position_lost"}' }))
  }

  async function begin(): Promise<void> {
    await catchUp()
    if (!signal.aborted) out.write(formatHeartbeat(sent))
  }

  /** Sends the missed changes, then the held events; or a reset if that takes too long or too much memory. */
  async function catchUp(): Promise<void> {
    const caughtUp = new AbortController()
    const late = () => giveUp.abort(new PositionLost())
    void sleep(clock, CATCH_UP_WITHIN_MS, AbortSignal.any([signal, caughtUp.signal])).then(late)
    try {
      await Promise.race([sendMissed(), rejection(giveUp.signal)])
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof PositionLost)) throw error
      // The reset stands for all changes up to now, those that are still being read included.
      giveUp.abort(error)
      held.clear()
      sendReset(hub.position ?? present)
    } finally {
      isBehind = false
      caughtUp.abort()
    }
  }

  async function sendMissed(): Promise<void> {
    const { after } = client
    if (after === undefined) sent = present
    else {
      await parts.takeTurn(() => readMissed(after), catching)
      // The client was connected to a replica that was ahead of this one.
      if (after > present) await reach(after)
    }
    for (let event = held.take(); event !== undefined; event = held.take()) {
      send({ kind: 'events', events: [event], position: event.position })
      await untilDrained()
      catching.throwIfAborted()
    }
    isBehind = false
  }

  async function reach(after: string): Promise<void> {
    const reached = await hub.waitFor(at => at !== undefined && at >= after, REACH_WITHIN_MS, catching)
    if (reached === undefined) throw new PositionLost()
  }

  async function readMissed(after: string): Promise<void> {
    catching.throwIfAborted()
    const cursor = await parts.feed.open(after)
    let missed = 0
    try {
      while (cursor.position < present) {
        const changes = await cursor.next()
        missed += changes.length
        if (missed > MAX_MISSED_CHANGES) throw new PositionLost()
        const { position } = cursor
        const events = await parts.readEvents(changes, new Date(clock.now()))
        catching.throwIfAborted()
        send({ kind: 'events', events, position })
        await untilDrained()
        catching.throwIfAborted()
      }
    } finally {
      await cursor.close()
    }
  }

  async function untilDrained(): Promise<void> {
    while (out.writableNeedDrain && !catching.aborted) await sleep(clock, 20, catching)
  }

  /** Repeats the checks of the client, and sends heartbeats. */
  async function attend(): Promise<void> {
    let heartbeatAt = clock.now() + HEARTBEAT_EVERY_MS
    let hadUnread = false
    while (!signal.aborted) {
      await sleep(clock, AUTHORIZE_EVERY_MS, signal)
      if (signal.aborted || !(await isStillAllowed()) || clock.now() < heartbeatAt) continue
      heartbeatAt = clock.now() + HEARTBEAT_EVERY_MS
      if (isBehind) {
        // Missed changes are sent as fast as the client reads, and it must not skip them.
        out.write(formatHeartbeat(undefined))
        continue
      }
      const hasUnread = out.writableLength > 0
      if (hasUnread && hadUnread) cutOff('slow_reader')
      hadUnread = hasUnread
      const at = hub.position
      if (at !== undefined && at > sent) sent = at
      out.write(formatHeartbeat(sent))
    }
  }

  async function isStillAllowed(): Promise<boolean> {
    try {
      projectId = await client.authorize()
      return true
    } catch (error) {
      // While the database is unavailable, there are no events either.
      if (isRetryable(error)) return true
      cutOff(error instanceof AppError ? error.code : 'internal')
      return false
    }
  }

  function cutOff(reason: string): void {
    if (signal.aborted) return
    isCut = true
    metrics.cut(reason)
    logger.info({ principal_id: client.principalId, reason }, 'live.cut')
    end.abort()
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
