import type { ProviderKind } from './providers.ts'

/** One Kafka topic as the deploy job makes it. The topics are data, so that code, docs and manifests cannot differ. */
export interface TopicDefinition {
  readonly partitions: number
  readonly retentionMs: number
  readonly cleanup: 'delete' | 'compact'
  /** LogAppendTime where the broker's clock orders the messages (delay lines), else CreateTime. */
  readonly timestampType: 'CreateTime' | 'LogAppendTime'
  readonly maxMessageBytes: number
}

const DAY_MS = 86_400_000
/** Twice the inbound body limit: the envelope is spliced around a body of up to 1 MiB. */
export const MAX_MESSAGE_BYTES = 2 * 1_048_576

const work: TopicDefinition = {
  partitions: 12,
  retentionMs: 7 * DAY_MS,
  cleanup: 'delete',
  timestampType: 'CreateTime',
  maxMessageBytes: MAX_MESSAGE_BYTES,
}
const delay: TopicDefinition = { ...work, partitions: 6, timestampType: 'LogAppendTime' }
/** Room for the reason that is added to a message that was as large as its own topic allowed. */
const dead: TopicDefinition = {
  ...work,
  partitions: 3,
  retentionMs: 30 * DAY_MS,
  maxMessageBytes: MAX_MESSAGE_BYTES + 65_536,
}

/** Every topic of the product. Growing `partitions` is safe at any time; nothing else of a topic changes in place. */
export const TOPICS = {
  'inbound.processor': work,
  'inbound.reseller': work,
  'inbound.subscription': work,
  operations: work,
  /** The minute of grace: a pure delay line. What is due moves to rechecks.due, where the second look happens. */
  rechecks: delay,
  'rechecks.due': { ...work, partitions: 6 },
  /** A delay line of seconds: when it is due, a signed action is judged whether the provider has answered or not. */
  'rechecks.unanswered': delay,
  /** Questions to the providers' own APIs, by connection: asked within its rate limit, answered on `readbacks`. */
  rereads: { ...work, partitions: 6 },
  /** A delay line: what could not be asked is asked again half a minute later. */
  'rereads.retry': delay,
  readbacks: work,
  /** Wishes to change what another service owns, to its owner. */
  commands: work,
  incidents: { ...work, cleanup: 'compact', retentionMs: 30 * DAY_MS },
  alerts: work,
  deliveries: work,
  'deliveries.retry.5s': delay,
  'deliveries.retry.1m': delay,
  'deliveries.retry.10m': delay,
  'deliveries.retry.1h': delay,
  'deliveries.retry.6h': delay,
  /** Parked with the reason: what the notifier, and what the reconciler, could not use. */
  'deliveries.dead': dead,
  'inbound.dead': dead,
  /** Carries nothing: the time at which the broker appends a record is how a process compares its clock with Kafka's. */
  clocks: { ...work, partitions: 1, retentionMs: DAY_MS, timestampType: 'LogAppendTime', maxMessageBytes: 65_536 },
} as const satisfies Record<string, TopicDefinition>

export type TopicName = keyof typeof TOPICS

/** The topic on which a provider's authenticated events arrive. */
export const INBOUND_TOPICS = {
  processor: 'inbound.processor',
  reseller: 'inbound.reseller',
  subscription: 'inbound.subscription',
} as const satisfies Record<ProviderKind, TopicName>

/** The rungs of the retry ladder, shortest first: a delay in milliseconds and the delay line that keeps it. */
export const RETRY_RUNGS = [
  { delayMs: 5_000, topic: 'deliveries.retry.5s' },
  { delayMs: 60_000, topic: 'deliveries.retry.1m' },
  { delayMs: 600_000, topic: 'deliveries.retry.10m' },
  { delayMs: 3_600_000, topic: 'deliveries.retry.1h' },
  { delayMs: 21_600_000, topic: 'deliveries.retry.6h' },
] as const satisfies readonly { delayMs: number; topic: TopicName }[]
