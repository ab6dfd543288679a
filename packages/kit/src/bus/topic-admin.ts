import { setTimeout as pause } from 'node:timers/promises'
import kafkajs from 'kafkajs'
import { unavailable } from '../errors.ts'
import { createKafkajsClient, type KafkaConnection } from './kafkajs-client.ts'

/** A topic as the broker has it. */
export interface TopicState {
  readonly name: string
  readonly partitions: number
  readonly replication: number
  /** Settings by the broker's names, e.g. retention.ms; inherited ones included. */
  readonly config: Readonly<Record<string, string>>
}

/** A topic to be made. */
export interface NewTopic {
  readonly name: string
  readonly partitions: number
  readonly replication: number
  readonly config: Readonly<Record<string, string>>
}

/** What the deploy job needs of the broker; names here are the broker's own, with their prefix. */
export interface TopicAdmin {
  /** @throws AppError `unavailable` when no broker answers */
  connect(): Promise<void>
  /** Those of the named topics that exist. */
  describe(names: readonly string[]): Promise<TopicState[]>
  /** Makes topics; one that exists already, e.g. because another job made it meanwhile, is left as it is. */
  create(topics: readonly NewTopic[]): Promise<void>
  addPartitions(name: string, total: number): Promise<void>
  delete(names: readonly string[]): Promise<void>
  /** The next offset that a group would read, by partition; undefined where it has committed nothing. */
  committed(groupId: string, topic: string): Promise<Map<number, bigint | undefined>>
  stop(): Promise<void>
}

const REQUEST_MS = 10_000
/** A broker that makes a thousand partitions at once on a busy disk needs most of a minute until it leads the last. */
const LED_WITHIN_MS = 60_000
const LOOK_EVERY_MS = 50

/** The broker's administration over kafkajs. */
export function createTopicAdmin(connection: KafkaConnection): TopicAdmin {
  const patient = { ...connection, requestTimeoutMs: connection.requestTimeoutMs ?? REQUEST_MS }
  const admin = createKafkajsClient(patient, { retries: 3, initialRetryTime: 100, maxRetryTime: 1_000 }).admin()
  /**
   * The controller answers before the brokers lead the new partitions; a send then would half succeed and be doubled by
   * its retry. Asking for offsets is answered only by a leader.
   */
  async function untilLed(topics: string[]): Promise<void> {
    const deadline = performance.now() + LED_WITHIN_MS
    for (;;) {
      try {
        for (const topic of topics) await admin.fetchTopicOffsets(topic)
        return
      } catch (error) {
        if (performance.now() > deadline) throw error
      }
      await pause(LOOK_EVERY_MS)
    }
  }

  return {
    async connect() {
      await admin.connect().catch(error => {
        throw unavailable('Kafka', error)
      })
    },
    async describe(names) {
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
    },
    async create(topics) {
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
      await untilLed(topics.map(({ name }) => name))
    },
    async addPartitions(name, total) {
      await admin.createPartitions({ timeout: REQUEST_MS, topicPartitions: [{ topic: name, count: total }] })
    },
    async delete(names) {
      await admin.deleteTopics({ topics: [...names], timeout: REQUEST_MS })
    },
    async committed(groupId, topic) {
      const [offsets] = await admin.fetchOffsets({ groupId, topics: [topic] })
      const known = (offset: string) => (offset === '-1' ? undefined : BigInt(offset))
      return new Map((offsets?.partitions ?? []).map(({ partition, offset }) => [partition, known(offset)]))
    },
    stop: () => admin.disconnect(),
  }
}
