import { setTimeout as pause } from 'node:timers/promises'
import type { Kafka } from 'kafkajs'
import { waitUntilSettled } from '../../clock/with-deadline.ts'
import { missingRight } from '../../errors.ts'
import type { Consumer, ConsumerOptions } from '../bus.ts'
import { classifyConsumerError, describeKafkaError, describeMissingKafkaRight, principalOf } from '../kafka-errors.ts'
import type { KafkaMetrics } from '../kafka-metrics.ts'
import { createKafkajsClient, type KafkaConnection, METADATA_MAX_AGE_MS } from '../kafkajs/client.ts'
import { ConsumerSession, type Position } from './consumer-session.ts'

/** First and longest pause before a failed consumer is replaced, in milliseconds. The pause doubles each time. */
const REBUILD_MS = [250, 3_000] as const
/** The default of `fetchWaitMs`. Short, because consumers pause partitions for milliseconds, and a resumed partition waits this long. */
const FETCH_WAIT_MS = 250
/** The default of `maxFetchBytes`: somewhat more than the largest message. */
const MAX_FETCHED_OF_PARTITION = 2 * 1_048_576 + 65_536
/** Maximum number of bytes of one fetch, partly compressed. In memory they are at most 16 times as many (`writeRecordBatch`). */
const MAX_FETCHED_BYTES = 4 * 1_048_576
/** Maximum number of unexpected kafkajs errors in a row after which the consumer is still replaced. */
const MAX_UNKNOWN_FAULTS = 5
/** How long `stop` waits until the consumer has left the group, in milliseconds. */
const END_MS = 6_000

export interface ConsumerSettings {
  readonly topicPrefix: string
  /** Time without heartbeats after which the broker reassigns the partitions, in milliseconds. */
  readonly sessionTimeoutMs: number
  readonly metrics: KafkaMetrics | undefined
  /** The time of messages, in milliseconds since the epoch. */
  readonly now: () => number
}

/**
 * The consumer on kafkajs. It restarts itself after every error: kafkajs stops permanently after some transient errors
 * (for example a missing coordinator while the broker restarts) and never resets its retry counter, so the sixth
 * failure in the life of a process would crash it.
 */
export class KafkaConsumer implements Consumer {
  readonly #connection: KafkaConnection
  readonly #settings: ConsumerSettings
  readonly #options: ConsumerOptions
  readonly #stop = new AbortController()
  #session: ConsumerSession | undefined
  #running: Promise<void> | undefined
  #lastProgressAt = Number.NEGATIVE_INFINITY
  #unknownFaults = 0

  constructor(connection: KafkaConnection, settings: ConsumerSettings, options: ConsumerOptions) {
    this.#connection = connection
    this.#settings = settings
    this.#options = options
  }

  async start(): Promise<void> {
    this.#noteProgress()
    this.#running ??= this.#runUntilStopped()
  }

  async stop(): Promise<void> {
    if (!this.#stop.signal.aborted) {
      this.#stop.abort()
      await this.#session?.stop()
    }
    // A session that is still connecting to an unavailable broker ends later on its own.
    if (this.#running !== undefined) await waitUntilSettled(this.#running, END_MS)
  }

  msSinceProgress(): number {
    return performance.now() - this.#lastProgressAt
  }

  #noteProgress(): void {
    this.#lastProgressAt = performance.now()
  }

  async #runUntilStopped(): Promise<void> {
    let pauseMs: number = REBUILD_MS[0]
    while (!this.#stop.signal.aborted) {
      const startedAt = performance.now()
      try {
        this.#session = this.#newSession()
        await this.#session.run()
      } catch (error) {
        if (this.#stop.signal.aborted) return
        if (performance.now() - startedAt > 60_000) {
          pauseMs = REBUILD_MS[0]
          this.#unknownFaults = 0
        }
        if (this.#isFatal(error)) return
        await pause(pauseMs, undefined, { signal: this.#stop.signal }).catch(() => undefined)
        pauseMs = Math.min(pauseMs * 2, REBUILD_MS[1])
        this.#noteProgress()
      }
    }
  }

  /** Logs the error that ended a session. @returns true if the consumer must stop as well */
  #isFatal(error: unknown): boolean {
    const fault = classifyConsumerError(error)
    const { topicPrefix } = this.#settings
    const missing = describeMissingKafkaRight(error, {
      principal: principalOf(this.#connection),
      topics: this.#options.topics.map(topic => topicPrefix + topic),
      operation: 'read',
      group: topicPrefix + this.#options.groupId,
    })
    const facts = { group: this.#options.groupId, reason: missing ?? fault.reason, error: describeKafkaError(error) }
    if (fault.kind === 'unknown') this.#unknownFaults += 1
    const { watch } = this.#connection
    // The watch ends the process if the credentials stay refused.
    if (fault.kind === 'refused') watch?.failed(error)
    const isFatal = fault.kind === 'fatal' || (fault.kind === 'refused' && watch === undefined)
    if (isFatal || this.#unknownFaults > MAX_UNKNOWN_FAULTS) {
      this.#connection.logger.fatal(facts, 'consumer.failed')
      this.#options.onFatal(missing === undefined ? error : missingRight(missing, error))
      return true
    }
    this.#settings.metrics?.consumerRebuilt(this.#options.groupId, fault.reason)
    this.#connection.logger.warn(facts, 'consumer.rebuilt')
    return false
  }

  #newSession(): ConsumerSession {
    const { topicPrefix, sessionTimeoutMs, metrics, now } = this.#settings
    // Transient errors are retried without limit, because kafkajs never resets the counter that it compares with
    // `retries`.
    const retry = { initialRetryTime: 100, maxRetryTime: 1_000, retries: Number.MAX_SAFE_INTEGER }
    const client = createKafkajsClient(this.#connection, { ...retry, retries: 3 })
    const consumer = client.consumer({
      groupId: topicPrefix + this.#options.groupId,
      sessionTimeout: sessionTimeoutMs,
      rebalanceTimeout: 30_000,
      heartbeatInterval: Math.min(3_000, Math.floor(sessionTimeoutMs / 3)),
      metadataMaxAge: this.#connection.metadataMaxAgeMs ?? METADATA_MAX_AGE_MS,
      allowAutoTopicCreation: false,
      maxWaitTimeInMs: this.#options.fetchWaitMs ?? FETCH_WAIT_MS,
      maxBytesPerPartition: this.#options.maxFetchBytes ?? MAX_FETCHED_OF_PARTITION,
      maxBytes: MAX_FETCHED_BYTES,
      retry: { ...retry, restartOnFailure: async () => false },
    })
    const session = {
      ...this.#options,
      topicPrefix,
      metrics,
      logger: this.#connection.logger,
      progress: () => this.#noteProgress(),
      findSince: (topics: readonly string[], ms: number) => findPositions(client, topics, now() - ms),
    }
    return new ConsumerSession(consumer, session)
  }
}

/** The first message of each partition that is not older than `sinceMs`, in milliseconds since the epoch; the end if there is none. */
async function findPositions(client: Kafka, topics: readonly string[], sinceMs: number): Promise<Position[]> {
  const admin = client.admin()
  try {
    await admin.connect()
    const found = topics.map(async topic => {
      const offsets = await admin.fetchTopicOffsetsByTimestamp(topic, sinceMs)
      return offsets.map(({ partition, offset }) => ({ topic, partition, offset }))
    })
    return (await Promise.all(found)).flat()
  } finally {
    void admin.disconnect().catch(() => undefined)
  }
}
