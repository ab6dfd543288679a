import type { ProviderKind } from './providers.ts'

/** One Kafka topic as the deploy job creates it. */
export interface TopicDefinition {
  readonly partitions: number
  readonly retentionMs: number
  readonly cleanup: 'delete' | 'compact'
  /** LogAppendTime where the broker's clock orders the messages (delay lines), else CreateTime. */
  readonly timestampType: 'CreateTime' | 'LogAppendTime'
  readonly maxMessageBytes: number
}

const DAY_MS = 86_400_000
/** Twice the limit of an inbound body (1 MiB), to leave room for its envelope. */
export const MAX_MESSAGE_BYTES = 2 * 1_048_576

const work: TopicDefinition = {
  partitions: 12,
  retentionMs: 7 * DAY_MS,
  cleanup: 'delete',
  timestampType: 'CreateTime',
  maxMessageBytes: MAX_MESSAGE_BYTES,
}
const delay: TopicDefinition = { ...work, partitions: 6, timestampType: 'LogAppendTime' }
/** Leaves room for the reason that is added to a message of the largest size. */
const dead: TopicDefinition = {
  ...work,
  partitions: 3,
  retentionMs: 30 * DAY_MS,
  maxMessageBytes: MAX_MESSAGE_BYTES + 65_536,
}

/** Every topic of the product. Only `partitions` may change in place, and only grow. */
export const TOPICS = {
  'inbound.processor': work,
  'inbound.reseller': work,
  'inbound.subscription': work,
  operations: work,
  /** The delay line of the minute before the second look. Due messages move to rechecks.due, whose consumer looks. */
  rechecks: delay,
  'rechecks.due': { ...work, partitions: 6 },
  /** The delay line of the seconds that a provider has to answer: then a signed action is judged without the answer. */
  'rechecks.unanswered': delay,
  /** Requests to read from a provider's API, keyed by connection. The results are on `readbacks`. */
  rereads: { ...work, partitions: 6 },
  /** The delay line of requests that failed: they are repeated after half a minute. */
  'rereads.retry': delay,
  readbacks: work,
  /** Requests to change data that another service owns. */
  commands: work,
  incidents: { ...work, cleanup: 'compact', retentionMs: 30 * DAY_MS },
  alerts: work,
  deliveries: work,
  'deliveries.retry.5s': delay,
  'deliveries.retry.1m': delay,
  'deliveries.retry.10m': delay,
  'deliveries.retry.1h': delay,
  'deliveries.retry.6h': delay,
  /** Dead letters of the notifier and of the reconciler. */
  'deliveries.dead': dead,
  'inbound.dead': dead,
  /** Records without content: their append time is the broker's time, with which each process compares its clock. */
  clocks: { ...work, partitions: 1, retentionMs: DAY_MS, timestampType: 'LogAppendTime', maxMessageBytes: 65_536 },
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
