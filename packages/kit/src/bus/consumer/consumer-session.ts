import type { TopicName } from '@backstop/contracts'
import type { ConsumerGroupJoinEvent, EachBatchPayload, Consumer as KafkajsConsumer } from 'kafkajs'
import { waitUntilSettled } from '../../clock/with-deadline.ts'
import type { Logger } from '../../logger.ts'
import type { ConsumerOptions } from '../bus.ts'
import { describeKafkaError, meansRejoin } from '../kafka-errors.ts'
import type { KafkaMetrics } from '../kafka-metrics.ts'
import { Committer } from './committer.ts'
import { consumeFetch, type FetchOutcome } from './consume-fetch.ts'
import { OwnedPartition } from './owned-partition.ts'

/** Interval of heartbeats while a batch is handled, in milliseconds. kafkajs sends at most one every 3 s. */
const BEAT_MS = 1_000
/**
 * A batch that takes longer than this hangs, in milliseconds: its heartbeats end, and another member gets the
 * partition.
 */
const MAX_BATCH_MS = 300_000
const COMMIT_ON_STOP_MS = 3_000
const LEAVE_MS = 5_000

/** A place in a partition. The topic has its prefix. */
export interface Position {
  readonly topic: string
  readonly partition: number
  readonly offset: string
}

export interface SessionOptions extends ConsumerOptions {
  readonly topicPrefix: string
  readonly logger: Logger
  readonly metrics: KafkaMetrics | undefined
  /** Called in each iteration of the consumer loop. */
  progress(): void
  /** The positions of the first messages of the last `ms` milliseconds in all partitions of these topics, which have their prefix. */
  findSince(topics: readonly string[], ms: number): Promise<readonly Position[]>
}

/**
 * One kafkajs consumer, from its connection to its crash or stop. Its state ends with it, because the broker delivers
 * uncommitted messages again.
 */
export class ConsumerSession {
  readonly #consumer: KafkajsConsumer
  readonly #options: SessionOptions
  readonly #owned = new Map<string, OwnedPartition>()
  readonly #committer: Committer
  readonly #ended = Promise.withResolvers<void>()
  #stopping = false
  /** The broker's request to rejoin the group, until kafkajs has handled it. The other members wait in the meantime. */
  #rejoinCause: unknown
  /** Counts assignments, because work of an earlier assignment must not move kafkajs's positions. */
  #epoch = 0
  #active = 0
  #resolveIdle: (() => void) | undefined

  constructor(consumer: KafkajsConsumer, options: SessionOptions) {
    this.#consumer = consumer
    this.#options = options
    this.#committer = new Committer(() => this.#owned.values(), options.logger)
    const { GROUP_JOIN, CRASH, FETCH_START, END_BATCH_PROCESS } = consumer.events
    consumer.on(GROUP_JOIN, event => this.#onGroupJoin(event))
    consumer.on(FETCH_START, () => this.#onFetch())
    consumer.on(END_BATCH_PROCESS, () => options.progress())
    consumer.on(CRASH, event => this.#ended.reject(event.payload.error))
    // `run` awaits the promise. Until then a rejection must not be reported as unhandled.
    this.#ended.promise.catch(() => undefined)
  }

  /** Consumes until `stop`. Rejects with the error that ended the consumer. */
  async run(): Promise<void> {
    const topics = this.#options.topics.map(topic => this.#options.topicPrefix + topic)
    try {
      await this.#consumer.connect()
      await this.#consumer.subscribe({ topics, fromBeginning: this.#options.onlyRecentMs === undefined })
      if (this.#stopping) return
      await this.#consumer.run({
        autoCommit: false,
        eachBatchAutoResolve: false,
        partitionsConsumedConcurrently: this.#options.maxPartitionsAtOnce ?? 4,
        eachBatch: payload => this.#eachBatch(payload),
      })
      await this.#ended.promise
    } finally {
      for (const owned of this.#owned.values()) this.#releasePartition(owned)
      this.#committer.close()
      this.#options.metrics?.left(this.#options.groupId)
      const leaving = waitUntilSettled(this.#consumer.disconnect(), LEAVE_MS)
      // After a crash, disconnecting may hang on the lost connection.
      if (this.#stopping) await leaving
    }
  }

  /** Resolves when finished messages are committed. `run` then leaves the group and ends. */
  async stop(): Promise<void> {
    this.#stopping = true
    for (const owned of this.#owned.values()) {
      owned.interrupt()
      owned.endPause()
    }
    this.#pauseAll()
    await waitUntilSettled(this.#waitUntilIdle(), this.#options.drainTimeoutMs ?? 15_000)
    await waitUntilSettled(this.#committer.flush(), COMMIT_ON_STOP_MS)
    this.#ended.resolve()
  }

  /**
   * Throws only requests to rejoin, which kafkajs handles. Every other exception would count towards kafkajs's retry
   * limit.
   */
  async #eachBatch(payload: EachBatchPayload): Promise<void> {
    if (this.#options.onlyRecentMs === undefined) {
      this.#committer.setCommitFunction(offsets => payload.commitOffsetsIfNecessary(offsets))
    }
    if (this.#stopping) return
    if (this.#rejoinCause !== undefined) throw this.#rejoinCause
    const owned = this.#findOrAddPartition(payload.batch.topic, payload.batch.partition)
    if (owned.busy) return
    owned.busy = true
    this.#active += 1
    const epoch = this.#epoch
    const endBeat = this.#keepMembership(payload)
    try {
      const outcome = await consumeFetch(owned, payload, {
        options: this.#options,
        mayGoOn: () => !this.#stopping && this.#rejoinCause === undefined && this.#epoch === epoch,
        mayResolve: () => this.#epoch === epoch,
        handled: () => this.#onHandled(),
        completed: () => this.#onCompleted(),
        heartbeat: () => this.#sendHeartbeats(payload),
      })
      this.#pauseWhenAsked(owned, outcome)
      // The other members wait for this batch: commit it before the assignment changes.
      if (this.#rejoinCause !== undefined) await waitUntilSettled(this.#committer.flush(), COMMIT_ON_STOP_MS)
    } catch (error) {
      this.#options.logger.error({ error, topic: owned.topic, partition: owned.partition }, 'consumer.fault')
      this.#pauseWhenAsked(owned, { resumeAfterMs: 1_000 })
    } finally {
      endBeat()
      owned.busy = false
      this.#active -= 1
      this.#checkIdle()
    }
    if (this.#rejoinCause !== undefined) throw this.#rejoinCause
  }

  #onFetch(): void {
    this.#options.progress()
    // kafkajs fetches again only after it has handled the exceptions of the last batches.
    this.#rejoinCause = undefined
  }

  #onHandled(): void {
    if (this.#options.commit === 'accepted') this.#committer.requestSoon()
  }

  #onCompleted(): void {
    this.#committer.requestSoon()
    this.#checkIdle()
  }

  #pauseWhenAsked(owned: OwnedPartition, { resumeAfterMs }: FetchOutcome): void {
    if (resumeAfterMs === undefined || this.#stopping) return
    const topicPartition = [{ topic: owned.brokerTopic, partitions: [owned.partition] }]
    this.#whileRunning(() => this.#consumer.pause(topicPartition))
    owned.resumeAfter(resumeAfterMs, () => {
      if (!this.#stopping) this.#whileRunning(() => this.#consumer.resume(topicPartition))
    })
  }

  #onGroupJoin({ payload }: ConsumerGroupJoinEvent): void {
    const { memberAssignment } = payload
    this.#epoch += 1
    this.#rejoinCause = undefined
    this.#options.progress()
    for (const owned of this.#owned.values()) {
      if (memberAssignment[owned.brokerTopic]?.includes(owned.partition)) {
        owned.endPause()
        owned.renewSignal()
      } else this.#releasePartition(owned)
    }
    // kafkajs keeps pauses across a rebalance, so a partition that is assigned again would stay paused. A handler that
    // still needs a pause requests it with the next batch.
    if (this.#stopping) this.#pauseAll()
    else this.#consumer.resume(this.#consumer.paused())
    if (this.#options.onlyRecentMs !== undefined) void this.#seekRecent(memberAssignment, this.#options.onlyRecentMs)
    const partitions = Object.values(memberAssignment).reduce((sum, list) => sum + list.length, 0)
    this.#options.metrics?.joined(this.#options.groupId, partitions)
    this.#options.logger.info({ group: payload.groupId, partitions, duration_ms: payload.duration }, 'consumer.joined')
  }

  /** Nothing is fetched until the positions are known: kafkajs would begin at the end. */
  async #seekRecent(assignment: ConsumerGroupJoinEvent['payload']['memberAssignment'], ms: number): Promise<void> {
    const epoch = this.#epoch
    const assigned = Object.entries(assignment).map(([topic, partitions]) => ({ topic, partitions }))
    this.#whileRunning(() => this.#consumer.pause(assigned))
    const positions = await this.#options.findSince(Object.keys(assignment), ms).catch((error: unknown) => {
      this.#options.logger.warn({ error: describeKafkaError(error) }, 'consumer.recent_unknown')
      return []
    })
    if (this.#stopping || this.#epoch !== epoch) return
    this.#whileRunning(() => {
      for (const position of positions) {
        if (assignment[position.topic]?.includes(position.partition)) this.#consumer.seek(position)
      }
      this.#consumer.resume(assigned)
    })
  }

  #onRebalance(cause: unknown): void {
    if (this.#rejoinCause !== undefined) return
    this.#rejoinCause = cause
    // Handed-off messages stay in progress, because their partition may be assigned to this process again.
    if (this.#options.commit === 'accepted') for (const owned of this.#owned.values()) owned.interrupt()
  }

  #keepMembership(payload: EachBatchPayload): () => void {
    const startedAt = performance.now()
    const timer = setInterval(() => {
      if (performance.now() - startedAt > MAX_BATCH_MS) {
        this.#options.logger.error({ topic: payload.batch.topic, partition: payload.batch.partition }, 'consumer.stuck')
        clearInterval(timer)
      } else void this.#trySendHeartbeat(payload)
    }, BEAT_MS)
    return () => clearInterval(timer)
  }

  async #sendHeartbeats(payload: EachBatchPayload): Promise<void> {
    this.#options.progress()
    await this.#trySendHeartbeat(payload)
  }

  async #trySendHeartbeat(payload: EachBatchPayload): Promise<void> {
    const epoch = this.#epoch
    try {
      await payload.heartbeat()
    } catch (error) {
      // A heartbeat answer from the previous assignment says nothing about the current one.
      if (meansRejoin(error) && this.#epoch === epoch) this.#onRebalance(error)
    }
  }

  #findOrAddPartition(brokerTopic: string, partition: number): OwnedPartition {
    const key = `${brokerTopic}/${partition}`
    let owned = this.#owned.get(key)
    if (owned === undefined) {
      const topic = brokerTopic.slice(this.#options.topicPrefix.length) as TopicName
      owned = new OwnedPartition(topic, brokerTopic, partition)
      this.#owned.set(key, owned)
    }
    return owned
  }

  #releasePartition(owned: OwnedPartition): void {
    owned.interrupt()
    owned.endPause()
    this.#owned.delete(`${owned.brokerTopic}/${owned.partition}`)
  }

  #pauseAll(): void {
    const topics = this.#options.topics.map(topic => ({ topic: this.#options.topicPrefix + topic }))
    this.#whileRunning(() => this.#consumer.pause(topics))
  }

  /**
   * kafkajs throws on pause and resume before it runs and after it crashed. In these states there is nothing to pause.
   */
  #whileRunning(act: () => void): void {
    try {
      act()
    } catch (error) {
      this.#options.logger.debug({ error: describeKafkaError(error) }, 'consumer.not_running')
    }
  }

  /** Resolves when no batch and no handed-off message is in progress. */
  #waitUntilIdle(): Promise<void> {
    return new Promise(resolve => {
      this.#resolveIdle = resolve
      this.#checkIdle()
    })
  }

  #checkIdle(): void {
    if (this.#resolveIdle === undefined || this.#active > 0) return
    for (const owned of this.#owned.values()) if (owned.tracker.openCount > 0) return
    this.#resolveIdle()
  }
}
