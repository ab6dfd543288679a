import type { Batch, IncomingMessage } from '../bus/bus.ts'

/** A message that waits in memory until its due time. */
interface HeldMessage {
  readonly message: IncomingMessage
  readonly batch: Batch
  readonly dueAtMs: number
}

/** Compressed bytes that are fetched from one partition at a time. A partition that holds less is read on, so it holds two fetches at most. */
export const MAX_FETCH_BYTES = 131_072

/** Messages that become due within this time, in milliseconds, are sent together, also those of different partitions. */
const TOGETHER_MS = 50

/** A partition continues this long before its next messages are needed, in milliseconds: a fetch in flight does not include it. */
const LEAD_MS = 500

/** How long a partition with room for more messages waits before it is read on, in milliseconds: a message that was written late is due soon. */
const READ_ON_MS = 500

/** How long a partition waits for room if none of its messages is due, in milliseconds. */
const NO_ROOM_MS = 50

/** Bytes of a message besides its value, roughly. */
const OVERHEAD_BYTES = 200

/**
 * The messages that a delay line holds, by partition, and in each by due time. Most are due in the order in which they were written. A message
 * that was written late is due before older ones: after an outage of Kafka, or because two records were joined.
 */
export class HeldMessages {
  readonly #partitions = new Map<number, HeldMessage[]>()

  add(partition: number, messages: readonly HeldMessage[]): void {
    this.#partitions.set(partition, byDueTime([...(this.#partitions.get(partition) ?? []), ...messages]))
  }

  /** Removes and returns messages that are due. */
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
      this.#partitions.set(partition, byDueTime([...own, ...behind]))
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
   * How long a partition waits before it is read on, in milliseconds. A partition whose messages fill the memory waits until half of them
   * are due, so that each message is fetched once, and none comes too late. Undefined if it is read on at once.
   */
  pauseMs(partition: number, nowMs: number): number | undefined {
    const held = this.#partitions.get(partition) ?? []
    const bytes = held.reduce((sum, { message }) => sum + OVERHEAD_BYTES + (message.value?.length ?? 0), 0)
    const untilHalfMs = (held[held.length >> 1]?.dueAtMs ?? nowMs) - LEAD_MS - nowMs
    if (bytes < MAX_FETCH_BYTES) return untilHalfMs > 0 ? Math.min(untilHalfMs, READ_ON_MS) : undefined
    return Math.max(untilHalfMs, NO_ROOM_MS)
  }
}

function byDueTime(messages: HeldMessage[]): HeldMessage[] {
  return messages.sort((a, b) => a.dueAtMs - b.dueAtMs)
}
