import type { TopicName } from '@backstop/contracts'
import type { TopicLog } from './log.ts'

export interface PartitionId {
  readonly topic: TopicName
  readonly partition: number
}

export function nameOf({ topic, partition }: PartitionId): string {
  return `${topic}/${partition}`
}

/** A member of a consumer group, as its coordinator sees it. */
export interface GroupMember {
  readonly topics: readonly TopicName[]
  /** False if it reads only recent messages. */
  readonly commits: boolean
  /** Asks the member to end its batches. Resolves when it joins again. Never resolves for a process that ended or hangs. */
  rejoin(): Promise<void>
  /** The whole new assignment. */
  assign(generation: number, partitions: readonly PartitionId[]): void
}

/** Timers of the coordinator, in the broker's time. */
export interface CoordinatorTimers {
  schedule(delayMs: number, act: () => void): () => void
}

/** How long the coordinator waits for its members to join again, and for a sign of life, in milliseconds; as the product sets them. */
export const REBALANCE_TIMEOUT_MS = 30_000
export const SESSION_TIMEOUT_MS = 30_000

/** The coordinator of one consumer group: its members, their partitions and their committed offsets. */
export class Group {
  readonly committed = new Map<string, bigint>()
  readonly #log: TopicLog
  readonly #timers: CoordinatorTimers
  #members: GroupMember[] = []
  #generation = 0
  /** Members that answered the rebalance in progress. */
  #joined = new Set<GroupMember>()
  #isRebalancing = false
  #cancelTimeout = () => {}

  /** All topics that its members have ever read. */
  readonly readTopics = new Set<TopicName>()
  /** False if its members read only recent messages, so that it has no progress. */
  commits = true
  #atNextCommit: (() => void) | undefined

  constructor(log: TopicLog, timers: CoordinatorTimers) {
    this.#log = log
    this.#timers = timers
  }

  join(member: GroupMember): void {
    if (!this.#members.includes(member)) this.#members.push(member)
    this.#joined.add(member)
    for (const topic of member.topics) this.readTopics.add(topic)
    this.commits = member.commits
    this.rebalance()
  }

  /** Removes a member that left, or whose session timed out. */
  leave(member: GroupMember): void {
    if (!this.#members.includes(member)) return
    this.#members = this.#members.filter(other => other !== member)
    this.#joined.delete(member)
    this.rebalance()
  }

  /** Acts once, when the next commit is on its way to the coordinator. */
  atNextCommit(act: () => void): void {
    this.#atNextCommit = act
  }

  /** A member sent a commit. */
  commitSent(): void {
    const act = this.#atNextCommit
    this.#atNextCommit = undefined
    act?.()
  }

  /** The topics of all members. */
  topics(): Set<TopicName> {
    return new Set(this.#members.flatMap(({ topics }) => topics))
  }

  isMember(member: GroupMember): boolean {
    return this.#members.includes(member)
  }

  /** @returns false if the member belongs to an earlier generation, so that nothing is committed */
  commit(member: GroupMember, generation: number, offsets: readonly (readonly [string, bigint])[]): boolean {
    if (!this.#members.includes(member) || generation !== this.#generation) return false
    for (const [partition, offset] of offsets) this.committed.set(partition, offset)
    return true
  }

  /** Begins a rebalance: all members join again, and the coordinator assigns the partitions anew. */
  rebalance(): void {
    if (!this.#isRebalancing) {
      this.#isRebalancing = true
      this.#cancelTimeout = this.#timers.schedule(REBALANCE_TIMEOUT_MS, () => this.#assign())
      for (const member of this.#members) {
        if (this.#joined.has(member)) continue
        void member.rejoin().then(() => {
          if (!this.#isRebalancing || !this.#members.includes(member)) return
          this.#joined.add(member)
          this.#assignWhenAllJoined()
        })
      }
    }
    this.#assignWhenAllJoined()
  }

  #assignWhenAllJoined(): void {
    if (this.#members.every(member => this.#joined.has(member))) this.#assign()
  }

  /** Members that did not join in time are out. */
  #assign(): void {
    this.#cancelTimeout()
    this.#isRebalancing = false
    this.#members = this.#members.filter(member => this.#joined.has(member))
    this.#joined.clear()
    this.#generation += 1
    const assigned = this.#assignment()
    for (const member of this.#members) member.assign(this.#generation, assigned.get(member) ?? [])
  }

  #assignment(): Map<GroupMember, PartitionId[]> {
    const assigned = new Map<GroupMember, PartitionId[]>()
    const topics = [...new Set(this.#members.flatMap(({ topics }) => topics))]
    for (const topic of topics) {
      const takers = this.#members.filter(member => member.topics.includes(topic))
      for (let partition = 0; partition < this.#log.countPartitions(topic); partition += 1) {
        const taker = takers[(partition + this.#generation) % takers.length]!
        assigned.set(taker, [...(assigned.get(taker) ?? []), { topic, partition }])
      }
    }
    return assigned
  }
}
