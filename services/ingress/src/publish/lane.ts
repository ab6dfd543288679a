import type { OutgoingMessage } from '@backstop/kit'
import type { BatcherLimits, PublishResult } from './micro-batcher.ts'

/** A message that is queued or in flight, and the callback for its result. */
export interface Waiting {
  readonly message: OutgoingMessage
  readonly bytes: number
  /** Passes the result to the caller of `publish`. Undefined after that. */
  resolve: ((result: PublishResult) => void) | undefined
}

/** The messages that wait for one topic, in order of arrival. */
export class Lane {
  #queue: Waiting[] = []
  #queuedBytes = 0
  #onEmpty: (() => void)[] = []
  /** Number of sends in flight. */
  inFlight = 0
  /** True if the linger time of the queued messages is over: they are sent as soon as another send is allowed. */
  isDue = false
  /** Cancels the linger timer, if it runs. */
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
   * Takes the next batch from the queue. It stays within the limits, unless its first message alone exceeds them. Messages whose caller
   * already got a result are returned as `abandoned` and not sent, so that after an outage the broker first gets the messages that
   * callers still wait for.
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

  /** Resolves when no message is queued or in flight. */
  empty(): Promise<void> {
    return new Promise(resolve => {
      this.#onEmpty.push(resolve)
      this.settle()
    })
  }

  /** Resolves the promises of `empty` if the queue is empty. */
  settle(): void {
    if (this.#queue.length > 0 || this.inFlight > 0) return
    for (const resolve of this.#onEmpty.splice(0)) resolve()
  }
}
