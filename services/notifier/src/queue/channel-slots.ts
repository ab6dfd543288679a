/**
 * Shares the slots for concurrent attempts among the channels: channels take turns, and failing channels get half of all
 * slots at most, so that working channels always find a slot.
 */
export class ChannelSlots {
  readonly #maxActive: number
  readonly #maxFailing: number
  /** Channels that may have a job to start, in the order in which they are served. */
  readonly #ready = new Set<string>()
  /** Failing channels that wait for a slot, in the order in which they are served. */
  readonly #heldBack = new Set<string>()
  #active = 0
  #activeFailing = 0

  /** @param maxActive number of slots */
  constructor(maxActive: number) {
    this.#maxActive = maxActive
    this.#maxFailing = Math.max(1, Math.floor(maxActive / 2))
  }

  get hasSlot(): boolean {
    return this.#active < this.#maxActive
  }

  /** Call it for a channel that may have a job to start. */
  give(channelId: string): void {
    this.#ready.add(channelId)
  }

  /** Takes the next channel to serve. Failing channels wait while all of their slots are taken. */
  next(isFailing: (channelId: string) => boolean, hasUrgent: (channelId: string) => boolean): string | undefined {
    const isFull = this.#activeFailing >= this.#maxFailing
    if (!isFull && this.#heldBack.size > 0) return takeFirst(this.#heldBack)
    while (this.#ready.size > 0) {
      const channelId = takeFirst(this.#ready)
      // Urgent jobs of failing channels need no slot of the failing ones, because a person waits for the result.
      if (!isFull || hasUrgent(channelId) || !isFailing(channelId)) return channelId
      this.#heldBack.add(channelId)
    }
    return undefined
  }

  /** Takes a slot. @returns a function that frees it */
  takeSlot(isOfFailing: boolean): () => void {
    const count = isOfFailing ? 1 : 0
    this.#active++
    this.#activeFailing += count
    return () => {
      this.#active--
      this.#activeFailing -= count
    }
  }
}

function takeFirst(set: Set<string>): string {
  const [first] = set as Iterable<string> as [string]
  set.delete(first)
  return first
}
