import type { OutgoingMessage } from '@backstop/kit/bus'
import { type QueueLimits, type QueueState, RECENT_SENDS } from './rules/queue-wait.ts'

export interface BatcherLimits extends QueueLimits {
  /** How long the first message of a batch waits for more messages, in milliseconds. */
  readonly lingerMs: number
  /** Limit for messages that are queued or in flight, over all topics. */
  readonly maxMessages: number
  readonly maxBytes: number
  /** How long a message may take until it is acknowledged, in milliseconds. */
  readonly deadlineMs: number
  /** How often one message is let through as a probe while the broker is unavailable, in milliseconds. */
  readonly probeIntervalMs: number
}

export type PublishResult =
  | { readonly kind: 'acknowledged' }
  | { readonly kind: 'unavailable'; readonly reason: 'broker_unavailable' | 'not_acknowledged_in_time' | 'stopping' }
  | { readonly kind: 'overloaded'; readonly reason: 'queue_full' }
  /** A bug or a wrong configuration. Posting the event again does not help. */
  | { readonly kind: 'failed'; readonly error: unknown }

/** A message that is queued or in flight, and the callback for its result. */
export interface PendingMessage {
  readonly message: OutgoingMessage
  readonly bytes: number
  /** Passes the result to the caller of `publish`. Undefined after that. */
  resolve: ((result: PublishResult) => void) | undefined
}

/** The messages that wait for one topic, in order of arrival. */
export class TopicQueue {
  #messages: PendingMessage[] = []
  #queuedBytes = 0
  readonly #recentSendsMs: number[] = []
  #onEmpty: (() => void)[] = []
  /** Number of sends in flight. */
  inFlight = 0
  /** True if the linger time of the queued messages is over: they are sent as soon as another send is allowed. */
  isDue = false
  /** Cancels the linger timer, if it runs. */
  cancelLinger: (() => void) | undefined

  get count(): number {
    return this.#messages.length
  }

  get state(): QueueState {
    return { messages: this.#messages.length, bytes: this.#queuedBytes, recentSendsMs: this.#recentSendsMs }
  }

  recordSend(durationMs: number): void {
    if (this.#recentSendsMs.push(durationMs) > RECENT_SENDS) this.#recentSendsMs.shift()
  }

  add(pending: PendingMessage): void {
    this.#messages.push(pending)
    this.#queuedBytes += pending.bytes
  }

  isFull(limits: BatcherLimits): boolean {
    return this.#messages.length >= limits.batchMessages || this.#queuedBytes >= limits.batchBytes
  }

  /**
   * Takes the next batch from the queue. It stays within the limits, unless its first message alone exceeds them. Messages whose caller
   * already got a result are returned as `abandoned` and not sent, so that after an outage the broker first gets the messages that
   * callers still wait for.
   */
  takeBatch(limits: BatcherLimits): { batch: PendingMessage[]; abandoned: PendingMessage[] } {
    const batch: PendingMessage[] = []
    const abandoned: PendingMessage[] = []
    let bytes = 0
    let taken = 0
    for (const pending of this.#messages) {
      if (pending.resolve === undefined) abandoned.push(pending)
      else {
        const isOver = batch.length >= limits.batchMessages || bytes + pending.bytes > limits.batchBytes
        if (isOver && batch.length > 0) break
        batch.push(pending)
        bytes += pending.bytes
      }
      taken += 1
      this.#queuedBytes -= pending.bytes
    }
    this.#messages = this.#messages.slice(taken)
    return { batch, abandoned }
  }

  /** Resolves when no message is queued or in flight. */
  waitUntilEmpty(): Promise<void> {
    return new Promise(resolve => {
      this.#onEmpty.push(resolve)
      this.resolveIfEmpty()
    })
  }

  /** Resolves the promises of `waitUntilEmpty` if the queue is empty. */
  resolveIfEmpty(): void {
    if (this.#messages.length > 0 || this.inFlight > 0) return
    for (const resolve of this.#onEmpty.splice(0)) resolve()
  }
}
