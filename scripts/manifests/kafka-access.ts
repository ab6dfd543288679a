/** The rights that each program needs at Kafka: the smallest set with which it works. */
import { INBOUND_TOPICS, RETRY_RUNGS, type TopicName } from '@backstop/contracts'

export interface KafkaAccess {
  /** Topics that the program consumes. */
  readonly reads: readonly TopicName[]
  /** Topics that it produces to. */
  readonly writes: readonly TopicName[]
  /** The first part of the names of its consumer groups, if it has any. */
  readonly groups?: string
  /** Whether it creates topics and adds partitions. */
  readonly provisions?: true
}

const inbound = Object.values(INBOUND_TOPICS)
const retries = RETRY_RUNGS.map(({ topic }) => topic)

/** By the names of the programs. Every program reads the names and settings of all topics, and the time of the broker from `clocks`. */
export const KAFKA_ACCESS: Readonly<Record<string, KafkaAccess>> = {
  ingress: { reads: [], writes: [...inbound, 'clocks'] },
  reconciler: {
    groups: 'reconciler',
    reads: [
      ...inbound,
      'operations',
      'rechecks',
      'rechecks.due',
      'rechecks.unanswered',
      'rereads',
      'rereads.retry',
      'readbacks',
      'commands',
    ],
    // It writes to the topics of events when it replays events of its inbox, and to `operations` for the ledger.
    writes: [
      ...inbound,
      'operations',
      'rechecks',
      'rechecks.due',
      'rechecks.unanswered',
      'rereads',
      'rereads.retry',
      'readbacks',
      'commands',
      'incidents',
      'alerts',
      'inbound.dead',
      'clocks',
    ],
  },
  notifier: {
    groups: 'notifier',
    reads: ['alerts', 'deliveries', ...retries, 'commands', 'deliveries.dead', 'inbound.dead'],
    writes: ['alerts', 'deliveries', ...retries, 'commands', 'deliveries.dead', 'clocks'],
  },
  // It publishes dead letters again to the topics from which they came.
  'admin-api': {
    reads: [],
    writes: [
      ...inbound,
      'operations',
      'rechecks.due',
      'rereads',
      'readbacks',
      'commands',
      'alerts',
      'deliveries',
      'clocks',
    ],
  },
  provision: { reads: [], writes: [], provisions: true },
}
