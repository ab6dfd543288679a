import type { Producer as KafkajsProducer, TopicMessages } from 'kafkajs'
import { waitUntilSettled, withDeadline } from '../clock/with-deadline.ts'
import { AppError, unavailable } from '../errors.ts'
import type { OutgoingMessage, Producer, ProducerOptions } from './bus.ts'
import { classifySendError, describeKafkaError, principalOf } from './kafka-errors.ts'
import type { KafkaMetrics } from './kafka-metrics.ts'
import { createKafkajsClient, type KafkaConnection, METADATA_MAX_AGE_MS } from './kafkajs/client.ts'
import { keyPartitioner } from './produce/key-partitioner.ts'
import { BusRecord } from './produce/record-batch.ts'
import { planRequests } from './send-plan.ts'

/** First and longest pause before a failed request is repeated, in milliseconds. The pause doubles each time. */
const RETRY_MS = [50, 500] as const
const DISCONNECT_MS = 5_000
/**
 * How long the broker waits for its other replicas, in milliseconds: shorter than the request timeout, so that its
 * answer arrives.
 */
const ISR_TIMEOUT_MS = 4_000

export interface ProducerSettings {
  readonly topicPrefix: string
  /** The timestamp of messages, in milliseconds since the epoch. */
  readonly now: () => number
  readonly metrics: KafkaMetrics | undefined
}

/** A kafkajs producer with its sends in flight. It is replaced when a send hangs. */
interface ProducerClient {
  readonly producer: KafkajsProducer
  connected: Promise<void> | undefined
  inFlight: number
  retired: boolean
}

/**
 * The producer on kafkajs, with three precautions. It is never idempotent, because an idempotent kafkajs producer loses
 * acknowledged messages after a lost response (its sequence number is reset, and the broker discards the next message
 * as a duplicate: https://github.com/tulios/kafkajs/issues/1005). It disables kafkajs's retries, because they have no
 * deadline. It replaces a client whose send hung.
 */
export class KafkaProducer implements Producer {
  readonly #connection: KafkaConnection
  readonly #settings: ProducerSettings
  readonly #sendTimeoutMs: number
  #line: ProducerClient | undefined
  #stopped = false
  readonly #sends = new Set<Promise<void>>()

  constructor(connection: KafkaConnection, settings: ProducerSettings, options: ProducerOptions) {
    this.#connection = connection
    this.#settings = settings
    this.#sendTimeoutMs = options.sendTimeoutMs
  }

  async start(): Promise<void> {
    const line = this.#currentClient()
    await waitUntilSettled(this.#connect(line), this.#sendTimeoutMs)
  }

  send(messages: readonly OutgoingMessage[]): Promise<void> {
    const sending = this.#sendAll(messages).catch((error: unknown) => {
      this.#settings.metrics?.sendFailed(error instanceof AppError ? error.code : 'unknown')
      throw error
    })
    this.#sends.add(sending)
    const forget = () => this.#sends.delete(sending)
    sending.then(forget, forget)
    return sending
  }

  async stop(): Promise<void> {
    await Promise.allSettled(this.#sends)
    this.#stopped = true
    const line = this.#line
    this.#line = undefined
    if (line !== undefined) await waitUntilSettled(line.producer.disconnect(), DISCONNECT_MS)
  }

  async #sendAll(messages: readonly OutgoingMessage[]): Promise<void> {
    const deadline = performance.now() + this.#sendTimeoutMs
    // Requests are sequential, because concurrent requests could change the order of messages with the same key.
    for (const request of planRequests(messages)) await this.#sendRequest(this.#topicMessages(request), deadline)
  }

  /** Retries until the broker acknowledges or permanently refuses the request, or the deadline passes. */
  async #sendRequest(topicMessages: TopicMessages[], deadline: number): Promise<void> {
    let pauseMs: number = RETRY_MS[0]
    let lastError: AppError | undefined
    for (;;) {
      const remainingMs = deadline - performance.now()
      if (remainingMs <= 0 || this.#stopped)
        throw lastError ?? unavailable('Kafka', new Error('The producer is stopped'))
      const line = this.#currentClient()
      line.inFlight += 1
      try {
        const expired = () => new Error(`No answer within ${this.#sendTimeoutMs} ms`)
        return await withDeadline(this.#sendOnce(line, topicMessages), remainingMs, expired)
      } catch (error) {
        // A timer may fire up to a millisecond early.
        if (performance.now() >= deadline - 1) this.#stopUsing(line)
        const topics = topicMessages.map(({ topic }) => topic)
        const failure = classifySendError(error, {
          principal: principalOf(this.#connection),
          topics,
          operation: 'write',
        })
        if (!failure.retryable) throw failure
        lastError = failure
      } finally {
        line.inFlight -= 1
        this.#disconnectWhenUnused(line)
      }
      const sleepMs = Math.min(pauseMs, Math.max(0, deadline - performance.now()))
      this.#settings.metrics?.sendRetried()
      this.#connection.logger.debug({ error: describeKafkaError(lastError), retry_ms: sleepMs }, 'producer.retry')
      await new Promise(resolve => setTimeout(resolve, sleepMs))
      pauseMs = Math.min(pauseMs * 2, RETRY_MS[1])
    }
  }

  async #sendOnce(line: ProducerClient, topicMessages: TopicMessages[]): Promise<void> {
    await this.#connect(line)
    await line.producer.sendBatch({ acks: -1, timeout: ISR_TIMEOUT_MS, topicMessages })
  }

  #currentClient(): ProducerClient {
    this.#line ??= {
      producer: createKafkajsClient(this.#connection, { retries: 0, initialRetryTime: 50 }).producer({
        idempotent: false,
        allowAutoTopicCreation: false,
        maxInFlightRequests: 5,
        metadataMaxAge: this.#connection.metadataMaxAgeMs ?? METADATA_MAX_AGE_MS,
        retry: { retries: 0, initialRetryTime: 50 },
        createPartitioner: keyPartitioner,
      }),
      connected: undefined,
      inFlight: 0,
      retired: false,
    }
    return this.#line
  }

  #connect(line: ProducerClient): Promise<void> {
    line.connected ??= line.producer.connect().catch(error => {
      line.connected = undefined
      throw error
    })
    return line.connected
  }

  /** Stops using a client whose request has passed its deadline, because the client may hang without end. */
  #stopUsing(line: ProducerClient): void {
    if (!line.retired) this.#settings.metrics?.producerRebuilt()
    line.retired = true
    if (this.#line === line) this.#line = undefined
  }

  #disconnectWhenUnused(line: ProducerClient): void {
    if (line.retired && line.inFlight === 0) void waitUntilSettled(line.producer.disconnect(), DISCONNECT_MS)
  }

  #topicMessages(messages: readonly OutgoingMessage[]): TopicMessages[] {
    const byTopic = Map.groupBy(messages, ({ topic }) => topic)
    const timestamp = String(this.#settings.now())
    return [...byTopic].map(([topic, ofTopic]) => ({
      topic: this.#settings.topicPrefix + topic,
      messages: ofTopic.map(({ key, value, headers }) => new BusRecord(key, value, headers, timestamp)),
    }))
  }
}
