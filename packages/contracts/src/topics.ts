import type { ProviderKind } from './providers.ts'

/** One Kafka topic as the deploy job creates it. */
export interface TopicDefinition {
  readonly partitions: number
  readonly retentionMs: number
  readonly cleanup: 'delete' | 'compact'
  /** LogAppendTime if the broker's clock orders the messages (delay lines), otherwise CreateTime. */
  readonly timestampType: 'CreateTime' | 'LogAppendTime'
  readonly maxMessageBytes: number
}

const DAY_MS = 86_400_000
/** Twice the limit of a notification's body (1 MiB), which leaves room for the other fields. */
export const MAX_MESSAGE_BYTES = 2 * 1_048_576

const workTopic: TopicDefinition = {
  partitions: 12,
  retentionMs: 7 * DAY_MS,
  cleanup: 'delete',
  timestampType: 'CreateTime',
  maxMessageBytes: MAX_MESSAGE_BYTES,
}
const delayLine: TopicDefinition = { ...workTopic, partitions: 6, timestampType: 'LogAppendTime' }
/** Dead letters get a reason in addition, so their limit is larger. */
const deadLetterTopic: TopicDefinition = {
  ...workTopic,
  partitions: 3,
  retentionMs: 30 * DAY_MS,
  maxMessageBytes: MAX_MESSAGE_BYTES + 65_536,
}

/** All topics of the product. In an existing topic, only `partitions` may change, and only grow. */
export const TOPICS = {
  'inbound.processor': workTopic,
  'inbound.reseller': workTopic,
  'inbound.subscription': workTopic,
  operations: workTopic,
  /** The delay line of the minute before the second look. Due messages move to rechecks.due, whose consumer makes the second look. */
  rechecks: delayLine,
  'rechecks.due': { ...workTopic, partitions: 6 },
  /** The delay line of the seconds that a provider has for its answer. After them, a signed action is judged without the answer. */
  'rechecks.unanswered': delayLine,
  /** Requests to read from a provider's API, keyed by connection. The results are published on `readbacks`. */
  rereads: { ...workTopic, partitions: 6 },
  /** The delay line of failed re-reads, which are repeated after half a minute. */
  'rereads.retry': delayLine,
  readbacks: workTopic,
  /** Requests to change data that another service owns. */
  commands: workTopic,
  incidents: { ...workTopic, cleanup: 'compact', retentionMs: 30 * DAY_MS },
  alerts: workTopic,
  deliveries: workTopic,
  'deliveries.retry.5s': delayLine,
  'deliveries.retry.1m': delayLine,
  'deliveries.retry.10m': delayLine,
  'deliveries.retry.1h': delayLine,
  'deliveries.retry.6h': delayLine,
  /** Dead letters of the notifier and of the reconciler. */
  'deliveries.dead': deadLetterTopic,
  'inbound.dead': deadLetterTopic,
} as const satisfies Record<string, TopicDefinition>

/** The name of a topic. */
export type TopicName = keyof typeof TOPICS

/** The topic of a provider's authentic events. */
export const INBOUND_TOPICS = {
  processor: 'inbound.processor',
  reseller: 'inbound.reseller',
  subscription: 'inbound.subscription',
} as const satisfies Record<ProviderKind, TopicName>

/** The steps of the retry schedule, shortest first: a delay in milliseconds and its delay line. */
export const RETRY_RUNGS = [
  { delayMs: 5_000, topic: 'deliveries.retry.5s' },
  { delayMs: 60_000, topic: 'deliveries.retry.1m' },
  { delayMs: 600_000, topic: 'deliveries.retry.10m' },
  { delayMs: 3_600_000, topic: 'deliveries.retry.1h' },
  { delayMs: 21_600_000, topic: 'deliveries.retry.6h' },
] as const satisfies readonly { delayMs: number; topic: TopicName }[]
