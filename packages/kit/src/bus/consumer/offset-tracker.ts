/**
 * Tracks which messages of an owned partition are handed out, completed and committed. Offsets are not contiguous
 * (compaction and transaction markers leave gaps), so the order is that of the messages handed out.
 */
export class OffsetTracker {
  /** Every message below this offset was handed out; undefined before the first message. */
  #position: bigint | undefined
  /** The last offset that the broker acknowledged as committed. The broker sends no message below it again. */
  #committed: bigint | undefined
  /** Messages that are handed out and not yet part of the completed prefix, in order. */
  #window: Entry[] = []
  readonly #byOffset = new Map<bigint, Entry>()
  #openCount = 0

  /**
   * Counts the leading offsets of a fetch that were handed out before, for example because the broker sends messages
   * again after a rebalance while their work continues. If offsets are below the committed one, the log was replaced or
   * the group was reset, and the tracker restarts.
   * @param offsets in ascending order
   */
  countSeen(offsets: readonly bigint[]): number {
    const first = offsets[0]
    if (first === undefined || this.#position === undefined) return 0
    if (this.#committed !== undefined && first < this.#committed) {
      this.#reset()
      return 0
    }
    const position = this.#position
    const index = offsets.findIndex(offset => offset >= position)
    return index === -1 ? offsets.length : index
  }

  /** Records that these offsets, in ascending order, are passed to the handler. */
  trackHandedOut(offsets: readonly bigint[]): void {
    for (const offset of offsets) {
      // The first offset is treated as committed, because the broker sends no message below the committed offset.
      this.#committed ??= offset
      const entry: Entry = { offset, state: 'open' }
      this.#window.push(entry)
      this.#byOffset.set(offset, entry)
      this.#openCount += 1
      this.#position = offset + 1n
    }
  }

  /**
   * Withdraws the most recently handed-out offsets because the handler did not accept them. They are handed out again.
   */
  withdraw(offsets: readonly bigint[]): void {
    const first = offsets[0]
    if (first === undefined) return
    for (const offset of offsets) this.#drop(offset)
    this.#window = this.#window.filter(entry => entry.offset < first)
    this.#position = first
  }

  /** Records that the effect of this message is durable. Ignores offsets that are not handed out. */
  complete(offset: bigint): void {
    const entry = this.#byOffset.get(offset)
    if (entry === undefined || entry.state === 'done') return
    if (entry.state === 'open') this.#openCount -= 1
    entry.state = 'done'
  }

  /** Records that this process stopped working on the message. The message is never committed here. */
  abandon(offset: bigint): void {
    const entry = this.#byOffset.get(offset)
    if (entry?.state !== 'open') return
    entry.state = 'abandoned'
    this.#openCount -= 1
  }

  /** Number of messages that are handed out and neither completed nor abandoned. */
  get openCount(): number {
    return this.#openCount
  }

  /** The offset to commit: that of the first message that is not completed. Undefined if it was committed before. */
  committable(): bigint | undefined {
    let done = 0
    while (this.#window[done]?.state === 'done') done += 1
    for (const entry of this.#window.splice(0, done)) this.#byOffset.delete(entry.offset)
    const next = this.#window[0]?.offset ?? this.#position
    return next !== undefined && this.#committed !== undefined && next > this.#committed ? next : undefined
  }

  /** Records that the broker acknowledged this commit. */
  committed(offset: bigint): void {
    if (this.#committed === undefined || offset > this.#committed) this.#committed = offset
  }

  #drop(offset: bigint): void {
    if (this.#byOffset.get(offset)?.state === 'open') this.#openCount -= 1
    this.#byOffset.delete(offset)
  }

  #reset(): void {
    this.#window = []
    this.#byOffset.clear()
    this.#openCount = 0
    this.#position = undefined
    this.#committed = undefined
  }
}

interface Entry {
  readonly offset: bigint
  state: 'open' | 'done' | 'abandoned'
}
