import type { Batch, IncomingMessage } from '../bus/bus.ts'

/** A message that waits in memory until its due time. */
interface HeldMessage {
  readonly message: IncomingMessage
  readonly batch: Batch
  readonly dueAtMs: number
}

/** Messages that become due within this time, in milliseconds, are sent together, also those of different partitions. */
const TOGETHER_MS = 50

/** A partition continues this long before its next messages are needed, in milliseconds: a fetch in flight does not include it. */
const LEAD_MS = 500

/** Number of held messages of one partition beyond which it waits until some are sent, and how long, in milliseconds. */
const MAX_HELD = 1_000
const NO_ROOM_MS = 50

/**
 * The messages that a delay line holds, by partition. Within a partition they keep their order: all have the same delay, so
 * that the first one is due first.
 */
export class HeldMessages {
  readonly #partitions = new Map<number, HeldMessage[]>()

  add(partition: number, messages: readonly HeldMessage[]): void {
    const held = this.#partitions.get(partition)
    if (held === undefined) this.#partitions.set(partition, [...messages])
    else held.push(...messages)
  }

  /** Removes and returns the messages that are due and have no message before them that is not. */
  takeDue(nowMs: number, { most, isOnePartition }: { most: number; isOnePartition: boolean }): HeldMessage[] {
    const taken: HeldMessage[] = []
    for (const held of this.#partitions.values()) {
      const end = held.findIndex(({ dueAtMs }) => dueAtMs > nowMs)
      taken.push(...held.splice(0, Math.min(end === -1 ? held.length : end, most - taken.length)))
      if (isOnePartition && taken.length > 0) break
    }
    return taken
  }

  /** Puts messages back that could not be sent. Other partitions are next. */
  putBack(messages: readonly HeldMessage[]): void {
    for (const [partition, own] of Map.groupBy(messages, ({ message }) => message.partition)) {
      const behind = this.#partitions.get(partition) ?? []
      this.#partitions.delete(partition)
      this.#partitions.set(partition, [...own, ...behind])
    }
  }

  /** Removes and returns the messages whose partition this process has lost. */
  takeLost(): HeldMessage[] {
    const lost: HeldMessage[] = []
    for (const [partition, held] of this.#partitions) {
      lost.push(...held.filter(({ batch }) => batch.signal.aborted))
      this.#partitions.set(
        partition,
        held.filter(({ batch }) => !batch.signal.aborted),
      )
    }
    return lost
  }

  /** When the next messages are sent: when the last of those is due that are due together. Undefined if there are none. */
  nextSendAtMs(): number | undefined {
    const first = Math.min(...[...this.#partitions.values()].map(([head]) => head?.dueAtMs ?? Number.POSITIVE_INFINITY))
    if (first === Number.POSITIVE_INFINITY) return undefined
    let last = first
    for (const held of this.#partitions.values()) {
      for (const { dueAtMs } of held) {
        if (dueAtMs > first + TOGETHER_MS) break
        last = Math.max(last, dueAtMs)
      }
    }
    return last
  }

  /**
   * How long a partition waits before it is read on, in milliseconds: until half of its held messages are due, so that each
   * message is fetched once, and none comes too late. Undefined if it is read on at once.
   */
  pauseMs(partition: number, nowMs: number): number | undefined {
    const held = this.#partitions.get(partition) ?? []
    const pauseMs = (held[held.length >> 1]?.dueAtMs ?? nowMs) - LEAD_MS - nowMs
    if (pauseMs > 0) return pauseMs
    return held.length > MAX_HELD ? NO_ROOM_MS : undefined
  }
}
