/**
 * Collects messages for a few milliseconds and sends them to Kafka in one request, because kafkajs has no linger and one request per
 * message costs a third of the throughput. Each caller gets its own result within its own deadline. Queued messages are limited by count
 * and bytes, so an unavailable broker exhausts neither memory nor sockets.
 */
import type { OutgoingMessage, Producer } from '@backstop/kit/bus'
import type { Clock } from '@backstop/kit/clock'
import { isRetryable } from '@backstop/kit/errors'
import {
  admitSend,
  type BreakerState,
  breakerAfterFailure,
  breakerAfterSuccess,
  CLOSED_BREAKER,
} from './rules/breaker.ts'
import { judgeQueue, type QueueJudgement } from './rules/queue-wait.ts'
import { type BatcherLimits, type PendingMessage, type PublishResult, TopicQueue } from './topic-queue.ts'

/** Called after each send. `durationMs` is the time until the broker's answer. */
export type OnSend = (outcome: 'acknowledged' | 'failed', messages: number, durationMs: number) => void

export class MicroBatcher {
  readonly #producer: Producer
  readonly #clock: Clock
  readonly #limits: BatcherLimits
  readonly #onSend: OnSend
  readonly #queues = new Map<string, TopicQueue>()
  #breaker: BreakerState = CLOSED_BREAKER
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
  get pending(): { readonly messages: number; readonly bytes: number } {
    return { messages: this.#messages, bytes: this.#bytes }
  }

  /**
   * Judges whether a message to the topic would wait too long for its send. Call it before any work on a message, because this is cheaper
   * than a message that times out. `publish` itself keeps only the limits of memory.
   */
  judge(topic: string): QueueJudgement {
    const queue = this.#queues.get(topic)
    return queue === undefined ? { kind: 'bearable' } : judgeQueue(queue.state, this.#limits)
  }

  /**
   * Publishes a message. Resolves with `acknowledged` after every in-sync replica has the message, or with the reason why not. Never
   * rejects.
   */
  publish(message: OutgoingMessage): Promise<PublishResult> {
    if (this.#stopping) return Promise.resolve({ kind: 'unavailable', reason: 'stopping' })
    const now = this.#clock.now()
    const admission = admitSend(this.#breaker, now, this.#limits.probeIntervalMs)
    if (admission.kind === 'refused') return Promise.resolve({ kind: 'unavailable', reason: admission.reason })
    const bytes = message.value?.length ?? 0
    if (this.#messages + 1 > this.#limits.maxMessages || this.#bytes + bytes > this.#limits.maxBytes) {
      return Promise.resolve({ kind: 'overloaded', reason: 'queue_full' })
    }
    this.#breaker = admission.state
    this.#messages += 1
    this.#bytes += bytes
    return new Promise(resolve => {
      const pending: PendingMessage = { message, bytes, resolve: undefined }
      const cancelDeadline = this.#clock.schedule(this.#limits.deadlineMs, () => {
        this.#recordFailure(now)
        pending.resolve?.({ kind: 'unavailable', reason: 'not_acknowledged_in_time' })
      })
      pending.resolve = result => {
        pending.resolve = undefined
        cancelDeadline()
        resolve(result)
      }
      this.#enqueue(pending)
    })
  }

  /** Ends the linger time of all queued messages. */
  sendQueued(): void {
    for (const queue of this.#queues.values()) if (queue.cancelLinger !== undefined) this.#sendDueBatches(queue, 'all')
  }

  /** Refuses new messages, sends the queued messages and resolves when every caller has its result. */
  async stop(): Promise<void> {
    this.#stopping = true
    for (const queue of this.#queues.values()) this.#sendDueBatches(queue, 'all')
    await Promise.all([...this.#queues.values()].map(queue => queue.waitUntilEmpty()))
  }

  #enqueue(pending: PendingMessage): void {
    const queue = this.#queues.get(pending.message.topic) ?? new TopicQueue()
    this.#queues.set(pending.message.topic, queue)
    queue.add(pending)
    if (queue.isFull(this.#limits)) this.#sendDueBatches(queue, 'full')
    else if (queue.cancelLinger === undefined && !queue.isDue) {
      queue.cancelLinger = this.#clock.schedule(this.#limits.lingerMs, () => this.#sendDueBatches(queue, 'all'))
    }
  }

  /** Sends full batches, as many as may be in flight. With 'all', it also sends the batches that are not full. */
  #sendDueBatches(queue: TopicQueue, which: 'full' | 'all'): void {
    if (which === 'all') {
      queue.cancelLinger?.()
      queue.cancelLinger = undefined
      queue.isDue = true
    }
    while (queue.inFlight < this.#limits.sendsInFlight && (queue.isDue || queue.isFull(this.#limits))) {
      const { batch, abandoned } = queue.takeBatch(this.#limits)
      this.#release(abandoned)
      if (queue.count === 0) queue.isDue = false
      if (batch.length > 0) void this.#sendBatch(queue, batch)
    }
  }

  async #sendBatch(queue: TopicQueue, batch: readonly PendingMessage[]): Promise<void> {
    queue.inFlight += 1
    await this.#send(queue, batch)
    queue.inFlight -= 1
    this.#release(batch)
    this.#sendDueBatches(queue, 'full')
    queue.resolveIfEmpty()
  }

  async #send(queue: TopicQueue, batch: readonly PendingMessage[]): Promise<void> {
    const beganMs = this.#clock.now()
    try {
      await this.#producer.send(batch.map(pending => pending.message))
    } catch (error) {
      this.#onSend('failed', batch.length, this.#clock.now() - beganMs)
      return this.#afterFailedSend(queue, batch, beganMs, error)
    }
    const now = this.#clock.now()
    this.#breaker = breakerAfterSuccess(now)
    queue.recordSend(now - beganMs)
    this.#onSend('acknowledged', batch.length, now - beganMs)
    for (const pending of batch) pending.resolve?.({ kind: 'acknowledged' })
  }

  async #afterFailedSend(
    queue: TopicQueue,
    batch: readonly PendingMessage[],
    beganMs: number,
    error: unknown,
  ): Promise<void> {
    if (isRetryable(error)) {
      this.#recordFailure(beganMs)
      for (const pending of batch) pending.resolve?.({ kind: 'unavailable', reason: 'broker_unavailable' })
      return
    }
    const [only] = batch
    if (batch.length <= 1) {
      only?.resolve?.({ kind: 'failed', error })
      return
    }
    // The broker refuses a whole batch for one message in it. Sending halves isolates that message, so that the others are stored.
    const middle = Math.ceil(batch.length / 2)
    await this.#send(queue, batch.slice(0, middle))
    await this.#send(queue, batch.slice(middle))
  }

  #recordFailure(beganMs: number): void {
    this.#breaker = breakerAfterFailure(this.#breaker, beganMs, this.#clock.now(), this.#limits.probeIntervalMs)
  }

  #release(done: readonly PendingMessage[]): void {
    this.#messages -= done.length
    for (const { bytes } of done) this.#bytes -= bytes
  }
}
