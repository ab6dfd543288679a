import { INBOUND_TOPICS, TOPICS, type TopicName } from '@backstop/contracts'
import { createKafkaBus } from '@backstop/kit/bus'
import { createLogger } from '@backstop/kit/logger'
import { until } from '@backstop/kit/test'
import kafkajs from 'kafkajs'

export interface TopicContent {
  /** Distinct ids of the events on the inbound topics. */
  readonly eventIds: ReadonlySet<string>
  /** Number of messages on any topic that contain the mark. */
  readonly marked: number
}

/** Reads every message of every topic. @param mark a word that no authentic message contains */
export async function readAllTopics(
  brokers: readonly string[],
  topicPrefix: string,
  mark: string,
): Promise<TopicContent> {
  const admin = new kafkajs.Kafka({ brokers: [...brokers], logLevel: kafkajs.logLevel.NOTHING }).admin()
  await admin.connect()
  const topics = Object.keys(TOPICS) as TopicName[]
  const inbound = new Set<string>(Object.values(INBOUND_TOPICS))
  const eventIds = new Set<string>()
  let expected = 0
  for (const topic of topics) {
    const offsets = await admin.fetchTopicOffsets(topicPrefix + topic)
    expected += offsets.reduce((sum, { high, low }) => sum + Number(high) - Number(low), 0)
  }
  await admin.disconnect()
  let read = 0
  let marked = 0
  const logger = createLogger('topic-reader', 'warn', process.stderr)
  const consumer = createKafkaBus({ brokers: [...brokers], clientId: 'topic-reader', topicPrefix, logger }).consumer({
    groupId: `topic-reader-${Date.now().toString(36)}`,
    topics,
    commit: 'accepted',
    onFatal: () => undefined,
    async onBatch({ messages }) {
      for (const { topic, key, value } of messages) {
        read++
        if (value?.includes(mark) || key?.includes(mark)) marked++
        // The schema registry's wire format: five bytes, then JSON.
        if (inbound.has(topic) && value) eventIds.add(JSON.parse(value.subarray(5).toString()).event_id)
      }
      return { accepted: messages.length }
    },
  })
  await consumer.start()
  try {
    await until('every message is read', () => read >= expected, {
      timeoutMs: 60_000,
      seen: () => ({ read, expected }),
    })
  } finally {
    await consumer.stop()
  }
  return { eventIds, marked }
}
