import { TOPICS, type TopicName } from '@backstop/contracts'
import type { IncomingMessage, OutgoingMessage } from '../../src/bus/bus.ts'

/** The topics of a broker in memory: lists of messages by offset, per topic and partition. */
export class MemoryLog {
  readonly #topics = new Map<TopicName, IncomingMessage[][]>()
  readonly #partitions: number | undefined

  /** @param partitions number of partitions of every topic; by default the number in the contracts */
  constructor(partitions: number | undefined) {
    this.#partitions = partitions
  }

  partitionCount(topic: TopicName): number {
    return this.#partitions ?? TOPICS[topic].partitions
  }

  append(message: OutgoingMessage, timestampMs: number): void {
    const partition = hash(message.key) % this.partitionCount(message.topic)
    const messages = this.partition(message.topic, partition)
    messages.push({ ...message, partition, offset: BigInt(messages.length), timestampMs })
  }

  partition(topic: TopicName, partition: number): IncomingMessage[] {
    let partitions = this.#topics.get(topic)
    if (partitions === undefined) {
      partitions = Array.from({ length: this.partitionCount(topic) }, () => [])
      this.#topics.set(topic, partitions)
    }
    return partitions[partition]!
  }

  /** All messages of a topic, partition by partition. */
  stored(topic: TopicName): readonly IncomingMessage[] {
    return (this.#topics.get(topic) ?? []).flat()
  }
}

/** FNV-1a: assigns keys to partitions. A key always has the same partition. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (const byte of Buffer.from(text)) value = Math.imul(value ^ byte, 0x01000193) >>> 0
  return value
}
