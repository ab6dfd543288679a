import { setTimeout as pause } from 'node:timers/promises'
import kafkajs from 'kafkajs'
import { unavailable } from '../errors.ts'
import { kafkaFailure, mayBeRepeated, principalOf } from './kafka-errors.ts'
import { createKafkajsClient, type KafkaConnection } from './kafkajs/client.ts'

/** The state of a topic at the broker. */
export interface TopicState {
  readonly name: string
  readonly partitions: number
  readonly replication: number
  /** Settings by the broker's names, for example retention.ms, including inherited ones. */
  readonly config: Readonly<Record<string, string>>
}

/** A topic to create. */
export interface NewTopic {
  readonly name: string
  readonly partitions: number
  readonly replication: number
  readonly config: Readonly<Record<string, string>>
}

/**
 * Broker administration for the deploy job. Names include the prefix. Each call throws AppError `unavailable` while the
 * broker does not answer or elects a leader: the call may be repeated then.
 */
export interface TopicAdmin {
  connect(): Promise<void>
  /** The existing topics among these names. */
  describe(names: readonly string[]): Promise<TopicState[]>
  /** Creates topics. An existing topic is left unchanged, for example if another job has just created it. */
  create(topics: readonly NewTopic[]): Promise<void>
  addPartitions(name: string, total: number): Promise<void>
  delete(names: readonly string[]): Promise<void>
  /** The next offset that a group would read, by partition; undefined if it has committed nothing. */
  committed(groupId: string, topic: string): Promise<Map<number, bigint | undefined>>
  /**
   * How many messages of the topic are older than `beforeMs` (milliseconds since the epoch) and not processed by the group.
   */
  unread(groupId: string, topic: string, beforeMs: number): Promise<bigint>
  /** How far a group has processed each partition of a topic. */
  progress(groupId: string, topic: string): Promise<GroupProgress[]>
  stop(): Promise<void>
}

/** The progress of a group in one partition. */
export interface GroupProgress {
  readonly partition: number
  /** The offset of the first message that is not processed: at least that of the oldest message that still exists. */
  readonly next: bigint
  /** The offset after the last message. */
  readonly end: bigint
}

const REQUEST_MS = 10_000
/**
 * Time limit for new partitions to get a leader, in milliseconds. On a busy disk a broker needs almost a minute for a
 * thousand partitions.
 */
const LED_WITHIN_MS = 60_000
const LOOK_EVERY_MS = 50

/** Broker administration on kafkajs. */
export function createTopicAdmin(connection: KafkaConnection): TopicAdmin {
  const patient = { ...connection, requestTimeoutMs: connection.requestTimeoutMs ?? REQUEST_MS }
  const admin = createKafkajsClient(patient, { retries: 3, initialRetryTime: 100, maxRetryTime: 1_000 }).admin()
  const needed = (group: string, topic: string) =>
    ({ principal: principalOf(connection), topics: [topic], operation: 'read', group }) as const
  return {
    async connect() {
      await admin.connect().catch(error => {
        throw unavailable('Kafka', error)
      })
    },
    describe: names => asUnavailable(() => describeTopics(admin, names)),
    create: topics =>
      asUnavailable(async () => {
        await createTopics(admin, topics)
        await waitForLeaders(admin, topics)
      }),
    async addPartitions(name, total) {
      const topicPartitions = [{ topic: name, count: total }]
      await asUnavailable(() => admin.createPartitions({ timeout: REQUEST_MS, topicPartitions }))
    },
    delete: names => asUnavailable(() => admin.deleteTopics({ topics: [...names], timeout: REQUEST_MS })),
    async committed(groupId, topic) {
      const [offsets] = await asUnavailable(() => admin.fetchOffsets({ groupId, topics: [topic] }))
      const known = (offset: string) => (offset === '-1' ? undefined : BigInt(offset))
      return new Map((offsets?.partitions ?? []).map(({ partition, offset }) => [partition, known(offset)]))
    },
    unread: (groupId, topic, beforeMs) =>
      countUnread(admin, groupId, topic, beforeMs).catch(error => {
        throw kafkaFailure(error, needed(groupId, topic))
      }),
    progress: (groupId, topic) =>
      readProgress(admin, groupId, topic).catch(error => {
        throw kafkaFailure(error, needed(groupId, topic))
      }),
    stop: () => admin.disconnect(),
  }
}

/** Calls the broker. A failure that the same call need not meet again is `unavailable`. */
async function asUnavailable<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    throw mayBeRepeated(error) ? unavailable('Kafka', error) : error
  }
}

async function createTopics(admin: kafkajs.Admin, topics: readonly NewTopic[]): Promise<void> {
  await admin.createTopics({
    timeout: REQUEST_MS,
    waitForLeaders: false,
    topics: topics.map(({ name, partitions, replication, config }) => ({
      topic: name,
      numPartitions: partitions,
      replicationFactor: replication,
      configEntries: Object.entries(config).map(([name, value]) => ({ name, value })),
    })),
  })
}

async function describeTopics(admin: kafkajs.Admin, names: readonly string[]): Promise<TopicState[]> {
  const present = new Set(await admin.listTopics())
  const existing = names.filter(name => present.has(name))
  if (existing.length === 0) return []
  const { topics } = await admin.fetchTopicMetadata({ topics: existing })
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: existing.map(name => ({ type: kafkajs.ConfigResourceTypes.TOPIC, name })),
  })
  return topics.map(({ name, partitions }) => {
    const entries = resources.find(resource => resource.resourceName === name)?.configEntries ?? []
    return {
      name,
      partitions: partitions.length,
      replication: Math.min(...partitions.map(({ replicas }) => replicas.length)),
      config: Object.fromEntries(entries.map(({ configName, configValue }) => [configName, configValue])),
    }
  })
}

async function countUnread(admin: kafkajs.Admin, groupId: string, topic: string, beforeMs: number): Promise<bigint> {
  const [ends, partitions] = await Promise.all([
    // The first message that is not older; the end of the partition if there is none.
    admin.fetchTopicOffsetsByTimestamp(topic, beforeMs),
    readProgress(admin, groupId, topic),
  ])
  let count = 0n
  for (const { partition, offset: end } of ends) {
    const next = partitions.find(one => one.partition === partition)?.next ?? 0n
    if (BigInt(end) > next) count += BigInt(end) - next
  }
  return count
}

async function readProgress(admin: kafkajs.Admin, groupId: string, topic: string): Promise<GroupProgress[]> {
  const [[committed], bounds] = await Promise.all([
    admin.fetchOffsets({ groupId, topics: [topic] }),
    admin.fetchTopicOffsets(topic),
  ])
  return bounds.map(({ partition, low, high }) => {
    const next = BigInt(committed?.partitions.find(one => one.partition === partition)?.offset ?? -1)
    // Messages below the low offset are deleted. A group that has committed nothing begins there.
    return { partition, next: next < BigInt(low) ? BigInt(low) : next, end: BigInt(high) }
  })
}

/**
 * Waits until all partitions have a leader. The controller answers earlier, and a send at that time would partly
 * succeed and be duplicated by its retry. Only a leader answers a request for offsets.
 */
async function waitForLeaders(admin: kafkajs.Admin, topics: readonly NewTopic[]): Promise<void> {
  const deadline = performance.now() + LED_WITHIN_MS
  for (;;) {
    try {
      for (const { name } of topics) await admin.fetchTopicOffsets(name)
      return
    } catch (error) {
      if (performance.now() > deadline) throw error
    }
    await pause(LOOK_EVERY_MS)
  }
}
