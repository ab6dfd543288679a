import type { TopicName } from '@backstop/contracts'
import { createSlowReading } from '../clock/slow-reading.ts'
import type { Metrics } from '../ops/metrics.ts'
import type { KafkaConnection } from './kafkajs/client.ts'
import { createTopicAdmin, type TopicAdmin } from './topic-admin.ts'
import { addReading, type PartitionEnds } from './unread-age.ts'

const EVERY_MS = 15_000
/** Below the 10 s that Prometheus waits for an answer by default. */
const WITHIN_MS = 4_000

export interface LagMetricsOptions {
  readonly connection: KafkaConnection
  readonly topicPrefix: string
  readonly metrics: Metrics
  readonly now: () => number
}

/** Shows how far behind the consumer groups of this process are. */
export interface LagMetrics {
  /** @param groupId without the topic prefix */
  watch(groupId: string, topics: readonly TopicName[]): void
}

/** How far behind a group is on a topic. */
interface TopicLag {
  readonly labels: { readonly group: string; readonly topic: TopicName }
  readonly messages: number
  readonly oldestMs: number
}

/**
 * Reads the lag from the broker's offsets, so that it also grows while a consumer hangs or is being replaced. The connection is
 * opened for each reading, because a process whose metrics nobody reads should not hold one.
 */
export function createLagMetrics(options: LagMetricsOptions): LagMetrics {
  const { connection, metrics } = options
  const lag = metrics.gauge('kafka_consumer_lag', 'Messages that a consumer group has not processed', [
    'group',
    'topic',
  ])
  const age = metrics.gauge(
    'kafka_oldest_unread_seconds',
    'At least this old is the oldest message that a consumer group has not processed; 0 if there is none',
    ['group', 'topic'],
  )
  const failures = metrics.counter('kafka_lag_reading_failures_total', 'Readings of the consumer lag that failed', [])
  const groups = new Map<string, readonly TopicName[]>()
  const known = new Map<string, PartitionEnds>()

  async function readGroup(admin: TopicAdmin, group: string, topics: readonly TopicName[]): Promise<TopicLag[]> {
    const lags: TopicLag[] = []
    for (const topic of topics) {
      const partitions = await admin.progress(options.topicPrefix + group, options.topicPrefix + topic)
      const atMs = options.now()
      const readings = partitions.map(({ partition, end, next }) => {
        const key = `${group}/${topic}/${partition}`
        const reading = addReading(known.get(key) ?? [], { end, committed: next, atMs })
        known.set(key, reading.ends)
        return reading
      })
      lags.push({
        labels: { group, topic },
        messages: readings.reduce((sum, one) => sum + Number(one.lag), 0),
        oldestMs: Math.max(0, ...readings.map(({ ageMs }) => ageMs)),
      })
    }
    return lags
  }

  const read = async () => {
    if (groups.size === 0) return
    const admin = createTopicAdmin(connection)
    try {
      await admin.connect()
      const lags: TopicLag[] = []
      for (const [group, topics] of groups) lags.push(...(await readGroup(admin, group, topics)))
      // Only a whole reading is shown: after a failure the gauges are absent, and an alert is about their absence.
      for (const { labels, messages, oldestMs } of lags) {
        lag.set(labels, messages)
        age.set(labels, oldestMs / 1000)
      }
    } finally {
      void admin.stop().catch(() => undefined)
    }
  }
  const onFailure = (error: unknown) => {
    failures.inc()
    lag.reset()
    age.reset()
    connection.logger.warn({ error }, 'metrics.lag_not_read')
  }
  metrics.beforeRead(createSlowReading({ everyMs: EVERY_MS, withinMs: WITHIN_MS, read, onFailure }))
  return { watch: (groupId, topics) => void groups.set(groupId, topics) }
}
