/**
 * Collects messages for a few milliseconds and sends them to Kafka in one request, because kafkajs has no linger and one request per
 * message costs a third of the throughput. Each caller gets its own result within its own deadline. Queued messages are limited by count
 * and bytes, so an unavailable broker exhausts neither memory nor sockets.
 */
import { type Clock, crashPoint, isRetryable, type OutgoingMessage, type Producer } from '@backstop/kit'
import type { IngressCrashPoint } from '../crash-points.ts'
import { Lane, type Waiting } from './lane.ts'
import { admit, afterFailure, afterSuccess, type BreakerState, CLOSED } from './rules/breaker.ts'

export interface BatcherLimits {
  /** How long the first message of a batch waits for more messages, in milliseconds. */
  readonly lingerMs: number
  /** A batch is sent at once when it has this many messages or bytes. */
  readonly batchMessages: number
  readonly batchBytes: number
  /** Limit for sends in flight per topic, so that a slow topic does not delay others. */
  readonly sendsInFlight: number
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

/** Called after each send. `durationMs` is the time until the broker's answer. */
export type OnSend = (outcome: 'acknowledged' | 'failed', messages: number, durationMs: number) => void

export class MicroBatcher {
  readonly #producer: Producer
  readonly #clock: Clock
  readonly #limits: BatcherLimits
  readonly #onSend: OnSend
  readonly #lanes = new Map<string, Lane>()
  #breaker: BreakerState = CLOSED
  #messages = 0
  #bytes = 0
  #stopping = false

  constructor(producer: Producer, clock: Clock, limits: BatcherLimits, onSend: OnSend) {
    this.#producer = producer
    this.#clock = clock
    this.#limits = limits
    this.#onSend = onSend
  }

  /** The messages that are queued or in flight. */
  get held(): { readonly messages: number; readonly bytes: number } {
    return { messages: this.#messages, bytes: this.#bytes }
  }

  /**
   * Publishes a message. Resolves with `acknowledged` after every in-sync replica has the message, or with the reason why not. Never
   * rejects.
   */
  publish(message: OutgoingMessage): Promise<PublishResult> {
    if (this.#stopping) return Promise.resolve({ kind: 'unavailable', reason: 'stopping' })
    const now = this.#clock.now()
    const admission = admit(this.#breaker, now, this.#limits.probeIntervalMs)
    if (admission.kind === 'refused') return Promise.resolve({ kind: 'unavailable', reason: admission.reason })
    const bytes = message.value?.length ?? 0
    if (this.#messages + 1 > this.#limits.maxMessages || this.#bytes + bytes > this.#limits.maxBytes) {
      return Promise.resolve({ kind: 'overloaded', reason: 'queue_full' })
    }
    this.#breaker = admission.state
    this.#messages += 1
    this.#bytes += bytes
    return new Promise(resolve => {
      const waiting: Waiting = { message, bytes, resolve: undefined }
      const cancelDeadline = this.#clock.schedule(this.#limits.deadlineMs, () => {
        this.#recordFailure(now)
        waiting.resolve?.({ kind: 'unavailable', reason: 'not_acknowledged_in_time' })
      })
      waiting.resolve = result => {
        waiting.resolve = undefined
        cancelDeadline()
        resolve(result)
      }
      this.#enqueue(waiting)
    })
  }

  /** Refuses new messages, sends the queued messages and resolves when every caller has its result. */
  async stop(): Promise<void> {
    this.#stopping = true
    for (const lane of this.#lanes.values()) this.#sendWhatIsDue(lane, 'all')
    await Promise.all([...this.#lanes.values()].map(lane => lane.empty()))
  }

  #enqueue(waiting: Waiting): void {
    const lane = this.#lanes.get(waiting.message.topic) ?? new Lane()
    this.#lanes.set(waiting.message.topic, lane)
    lane.add(waiting)
    if (lane.isFull(this.#limits)) this.#sendWhatIsDue(lane, 'full')
    else if (lane.cancelLinger === undefined && !lane.isDue) {
      lane.cancelLinger = this.#clock.schedule(this.#limits.lingerMs, () => this.#sendWhatIsDue(lane, 'all'))
    }
  }

  /** Sends full batches, as many as may be in flight. With 'all', it also sends the batches that are not full. */
  #sendWhatIsDue(lane: Lane, which: 'full' | 'all'): void {
    if (which === 'all') {
      lane.cancelLinger?.()
      lane.cancelLinger = undefined
      lane.isDue = true
    }
    while (lane.inFlight < this.#limits.sendsInFlight && (lane.isDue || lane.isFull(this.#limits))) {
      const { batch, abandoned } = lane.take(this.#limits)
      this.#release(abandoned)
      if (lane.waiting === 0) lane.isDue = false
      if (batch.length > 0) void this.#flush(lane, batch)
    }
  }

  async #flush(lane: Lane, batch: readonly Waiting[]): Promise<void> {
    lane.inFlight += 1
    await this.#send(batch)
    lane.inFlight -= 1
    this.#release(batch)
    this.#sendWhatIsDue(lane, 'full')
    lane.settle()
  }

  async #send(batch: readonly Waiting[]): Promise<void> {
    const beganMs = this.#clock.now()
    crashPoint('ingress.before-send' satisfies IngressCrashPoint)
    try {
      await this.#producer.send(batch.map(waiting => waiting.message))
    } catch (error) {
      this.#onSend('failed', batch.length, this.#clock.now() - beganMs)
      return this.#afterFailedSend(batch, beganMs, error)
    }
    crashPoint('ingress.after-send' satisfies IngressCrashPoint)
    const now = this.#clock.now()
    this.#breaker = afterSuccess(now)
    this.#onSend('acknowledged', batch.length, now - beganMs)
    for (const waiting of batch) waiting.resolve?.({ kind: 'acknowledged' })
  }

  async #afterFailedSend(batch: readonly Waiting[], beganMs: number, error: unknown): Promise<void> {
    if (isRetryable(error)) {
      this.#recordFailure(beganMs)
      for (const waiting of batch) waiting.resolve?.({ kind: 'unavailable', reason: 'broker_unavailable' })
      return
    }
    const [only] = batch
    if (batch.length <= 1) {
      only?.resolve?.({ kind: 'failed', error })
      return
    }
    // The broker refuses a whole batch for one message in it. Sending halves isolates that message, so that the others are stored.
    const middle = Math.ceil(batch.length / 2)
    await this.#send(batch.slice(0, middle))
    await this.#send(batch.slice(middle))
  }

  #recordFailure(beganMs: number): void {
    this.#breaker = afterFailure(this.#breaker, beganMs, this.#clock.now(), this.#limits.probeIntervalMs)
  }

  #release(done: readonly Waiting[]): void {
    this.#messages -= done.length
    for (const { bytes } of done) this.#bytes -= bytes
  }
}
