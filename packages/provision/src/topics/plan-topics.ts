import { TOPICS, type TopicDefinition, type TopicName } from '@backstop/contracts'
import type { NewTopic, TopicState } from '@backstop/kit/bus'

/** How durable the topics of an installation are. */
export interface Durability {
  /** Number of copies of every partition; 3 in production. */
  readonly replication: number
  /** Number of copies that must contain a message before it is acknowledged; 2 in production. */
  readonly minInsync: number
}

export interface TopicPlan {
  readonly create: readonly NewTopic[]
  readonly grow: readonly { readonly name: string; readonly from: number; readonly to: number }[]
  /** The differences that may not be changed in place, one line each for a person. */
  readonly conflicts: readonly string[]
}

/**
 * The topics that this installation needs, by their names at the broker.
 * @param maxPartitions the largest number of partitions of a topic; that of the contracts by default
 */
export function wantedTopics(
  topicPrefix: string,
  durability: Durability,
  maxPartitions = Number.POSITIVE_INFINITY,
): NewTopic[] {
  return (Object.entries(TOPICS) as [TopicName, TopicDefinition][]).map(([name, definition]) => ({
    name: topicPrefix + name,
    partitions: Math.min(definition.partitions, maxPartitions),
    replication: durability.replication,
    config: configOf(definition, durability),
  }))
}

function configOf(definition: TopicDefinition, { minInsync }: Durability): Record<string, string> {
  return {
    'cleanup.policy': definition.cleanup,
    'retention.ms': String(definition.retentionMs),
    'max.message.bytes': String(definition.maxMessageBytes),
    'message.timestamp.type': definition.timestampType,
    'min.insync.replicas': String(minInsync),
    // Keep the producer's compression: a broker that recompresses could choose a codec that a consumer lacks.
    'compression.type': 'producer',
    // A replica that lags must not become the leader, because acknowledged messages would be lost.
    'unclean.leader.election.enable': 'false',
  }
}

/** Plans the changes after which the broker has every wanted topic in the wanted form. */
export function planTopics(wanted: readonly NewTopic[], existing: readonly TopicState[]): TopicPlan {
  const byName = new Map(existing.map(topic => [topic.name, topic]))
  const create: NewTopic[] = []
  const grow: { name: string; from: number; to: number }[] = []
  const conflicts: string[] = []
  for (const topic of wanted) {
    const present = byName.get(topic.name)
    if (present === undefined) {
      create.push(topic)
      continue
    }
    if (present.partitions < topic.partitions) {
      grow.push({ name: topic.name, from: present.partitions, to: topic.partitions })
    }
    conflicts.push(...conflictsOf(topic, present))
  }
  return { create, grow, conflicts }
}

/**
 * Lists the differences that only a person may resolve: less retention loses messages, another cleanup policy or
 * timestamp type changes the meaning of a topic. More partitions or copies than wanted are an operator's choice and are
 * accepted.
 */
function conflictsOf(wanted: NewTopic, present: TopicState): string[] {
  const conflicts: string[] = []
  if (present.replication < wanted.replication) {
    conflicts.push(`${wanted.name}: has ${present.replication} copies of each partition, wants ${wanted.replication}`)
  }
  for (const [setting, value] of Object.entries(wanted.config)) {
    const actual = present.config[setting]
    if (actual !== value) conflicts.push(`${wanted.name}: ${setting} is ${actual ?? 'unknown'}, should be ${value}`)
  }
  return conflicts
}
