import type { TopicName } from '@backstop/contracts'
import { type Clock, sleep } from '../../src/clock/clock.ts'

/** How long a rebalance waits for a batch in progress, in milliseconds; the same as in Kafka. */
const REBALANCE_TIMEOUT_MS = 30_000

/** A member of a consumer group, as seen by the group. */
export interface GroupMember {
  readonly topics: readonly TopicName[]
  /** Interrupts the partitions to revoke. Resolves when none of them has a batch in progress. */
  revoke(partitions: readonly PartitionId[]): Promise<void>
  /** Passes the whole new assignment. Partitions that the member already owns continue. */
  assign(partitions: readonly PartitionId[]): void
}

export interface PartitionId {
  readonly topic: TopicName
  readonly partition: number
}

export function idOf({ topic, partition }: PartitionId): string {
  return `${topic}/${partition}`
}

/** A consumer group in memory: committed offsets, members, and the assignment of partitions. */
export class MemoryGroup {
  readonly committed = new Map<string, bigint>()
  readonly #clock: Clock
  readonly #partitionCount: (topic: TopicName) => number
  #members: GroupMember[] = []
  #assigned = new Map<GroupMember, PartitionId[]>()
  /** The promise of the last rebalance, because rebalances run one after the other. */
  #lastRebalance: Promise<void> = Promise.resolve()

  constructor(clock: Clock, partitionCount: (topic: TopicName) => number) {
    this.#clock = clock
    this.#partitionCount = partitionCount
  }

  join(member: GroupMember): Promise<void> {
    this.#members.push(member)
    return this.#rebalance()
  }

  /** Removes a member that has stopped or was killed, without waiting for it. */
  leave(member: GroupMember): Promise<void> {
    this.#members = this.#members.filter(other => other !== member)
    this.#assigned.delete(member)
    return this.#rebalance()
  }

  #rebalance(): Promise<void> {
    this.#lastRebalance = this.#lastRebalance.then(() => this.#assignPartitions())
    return this.#lastRebalance
  }

  async #assignPartitions(): Promise<void> {
    const next = this.#nextAssignment()
    const revocations = [...this.#assigned].map(([member, had]) => {
      const keeps = new Set((next.get(member) ?? []).map(idOf))
      return member.revoke(had.filter(partition => !keeps.has(idOf(partition))))
    })
    const giveUp = new AbortController()
    await Promise.race([Promise.all(revocations), sleep(this.#clock, REBALANCE_TIMEOUT_MS, giveUp.signal)])
    giveUp.abort()
    this.#assigned = new Map(this.#members.map(member => [member, next.get(member) ?? []]))
    for (const [member, partitions] of this.#assigned) member.assign(partitions)
  }

  #nextAssignment(): Map<GroupMember, PartitionId[]> {
    const next = new Map<GroupMember, PartitionId[]>()
    const topics = new Set(this.#members.flatMap(({ topics }) => topics))
    for (const topic of topics) {
      const takers = this.#members.filter(member => member.topics.includes(topic))
      for (let partition = 0; partition < this.#partitionCount(topic); partition += 1) {
        const taker = takers[partition % takers.length]!
        next.set(taker, [...(next.get(taker) ?? []), { topic, partition }])
      }
    }
    return next
  }
}
