import { TOPICS, type TopicName } from '@backstop/contracts'
import type { IncomingMessage, OutgoingMessage } from '../../src/bus/index.ts'

/** A partition: its messages from `first` on. Retention removes from the front. */
interface Partition {
  first: number
  readonly messages: IncomingMessage[]
  /** While a new leader is elected, requests fail. */
  hasLeader: boolean
  readonly followers: Set<() => void>
}

/** The topics of a broker in memory. */
export class TopicLog {
  readonly #topics = new Map<TopicName, Partition[]>()
  readonly #unwritable = new Set<TopicName>()
  readonly #partitions: number | undefined

  /** @param partitions number of partitions of every topic; by default the number in the contracts */
  constructor(partitions?: number) {
    this.#partitions = partitions
  }

  /** The topics that were used. */
  topics(): Iterable<TopicName> {
    return this.#topics.keys()
  }

  countPartitions(topic: TopicName): number {
    return this.#topic(topic).length
  }

  addPartition(topic: TopicName): void {
    this.#topic(topic).push(newPartition())
  }

  partitionOf({ topic, key }: OutgoingMessage): number {
    return hash(key) % this.countPartitions(topic)
  }

  hasLeader(topic: TopicName, partition: number): boolean {
    return this.#partition(topic, partition).hasLeader
  }

  setLeader(topic: TopicName, partition: number, hasLeader: boolean): void {
    this.#partition(topic, partition).hasLeader = hasLeader
  }

  /** While too few replicas of a topic are in sync, it is read as before and takes no messages. */
  setWritable(topic: TopicName, isWritable: boolean): void {
    if (isWritable) this.#unwritable.delete(topic)
    else this.#unwritable.add(topic)
  }

  takesMessages(topic: TopicName, partition: number): boolean {
    return this.hasLeader(topic, partition) && !this.#unwritable.has(topic)
  }

  append(message: OutgoingMessage, partition: number, timestampMs: number): void {
    const { first, messages, followers } = this.#partition(message.topic, partition)
    messages.push({ ...message, partition, offset: BigInt(first + messages.length), timestampMs })
    for (const wake of [...followers]) wake()
  }

  /** Messages from an offset on; from the first that is left, if retention removed it. */
  read(topic: TopicName, partition: number, from: bigint, limit: number): IncomingMessage[] {
    const { first, messages } = this.#partition(topic, partition)
    const start = Math.max(0, Number(from) - first)
    return messages.slice(start, start + limit)
  }

  /** The offset of the first message that is not older, in milliseconds since the epoch; of the next message if there is none. */
  firstSince(topic: TopicName, partition: number, sinceMs: number): bigint {
    const { messages } = this.#partition(topic, partition)
    return messages.find(({ timestampMs }) => timestampMs >= sinceMs)?.offset ?? this.end(topic, partition)
  }

  /** The offset of the next message. */
  end(topic: TopicName, partition: number): bigint {
    const { first, messages } = this.#partition(topic, partition)
    return BigInt(first + messages.length)
  }

  /** Removes the messages before an offset. @returns how many */
  removeBefore(topic: TopicName, partition: number, offset: number): number {
    const found = this.#partition(topic, partition)
    const count = Math.max(0, Math.min(offset - found.first, found.messages.length))
    found.messages.splice(0, count)
    found.first += count
    return count
  }

  /** Calls `wake` after each new message. @returns a function that ends this */
  follow(topic: TopicName, partition: number, wake: () => void): () => void {
    const { followers } = this.#partition(topic, partition)
    followers.add(wake)
    return () => followers.delete(wake)
  }

  /** All messages of a topic, partition by partition. */
  stored(topic: TopicName): readonly IncomingMessage[] {
    return this.#topic(topic).flatMap(({ messages }) => messages)
  }

  #topic(topic: TopicName): Partition[] {
    let partitions = this.#topics.get(topic)
    if (partitions === undefined) {
      partitions = Array.from({ length: this.#partitions ?? TOPICS[topic].partitions }, newPartition)
      this.#topics.set(topic, partitions)
    }
    return partitions
  }

  #partition(topic: TopicName, partition: number): Partition {
    const found = this.#topic(topic)[partition]
    if (found === undefined) throw new Error(`${topic} has no partition ${partition}`)
    return found
  }
}

function newPartition(): Partition {
  return { first: 0, messages: [], hasLeader: true, followers: new Set() }
}

/** FNV-1a: assigns keys to partitions. A key keeps its partition until partitions are added. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (const byte of Buffer.from(text)) value = Math.imul(value ^ byte, 0x01000193) >>> 0
  return value
}
