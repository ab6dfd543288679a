import type { OutgoingMessage } from '@backstop/kit'
import type { BatcherLimits, PublishResult } from './micro-batcher.ts'

/** A message on its way, and who waits for its ack. */
export interface Waiting {
  readonly message: OutgoingMessage
  readonly bytes: number
  /** Gives the waiter its result; undefined once it has one. */
  resolve: ((result: PublishResult) => void) | undefined
}

/** What waits for one topic, in order of arrival. */
export class Lane {
  #queue: Waiting[] = []
  #queuedBytes = 0
  #onEmpty: (() => void)[] = []
  /** Sends that have not ended. */
  inFlight = 0
  /** What waits has waited long enough: it goes as soon as a send is to spare. */
  isDue = false
  /** Ends the wait for company, while one runs. */
  cancelLinger: (() => void) | undefined

  get waiting(): number {
    return this.#queue.length
  }

  add(waiting: Waiting): void {
    this.#queue.push(waiting)
    this.#queuedBytes += waiting.bytes
  }

  isFull(limits: BatcherLimits): boolean {
    return this.#queue.length >= limits.batchMessages || this.#queuedBytes >= limits.batchBytes
  }

  /**
   * The next batch, never beyond the limits but for one message that is larger alone. Whoever gave up waiting is left
   * out: after an outage the broker first gets what somebody still waits for.
   */
  take(limits: BatcherLimits): { batch: Waiting[]; abandoned: Waiting[] } {
    const batch: Waiting[] = []
    const abandoned: Waiting[] = []
    let bytes = 0
    let taken = 0
    for (const waiting of this.#queue) {
      if (waiting.resolve === undefined) abandoned.push(waiting)
      else {
        const isOver = batch.length >= limits.batchMessages || bytes + waiting.bytes > limits.batchBytes
        if (isOver && batch.length > 0) break
        batch.push(waiting)
        bytes += waiting.bytes
      }
      taken += 1
      this.#queuedBytes -= waiting.bytes
    }
    this.#queue = this.#queue.slice(taken)
    return { batch, abandoned }
  }

  /** Resolves when nothing waits and nothing is in flight. */
  empty(): Promise<void> {
    return new Promise(resolve => {
      this.#onEmpty.push(resolve)
      this.settle()
    })
  }

  /** Tells those who wait for `empty`, if it is. */
  settle(): void {
    if (this.#queue.length > 0 || this.inFlight > 0) return
    for (const resolve of this.#onEmpty.splice(0)) resolve()
  }
}
