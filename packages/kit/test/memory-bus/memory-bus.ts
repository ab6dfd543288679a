import type { TopicName } from '@backstop/contracts'
import type { Bus, IncomingMessage, OutgoingMessage } from '../../src/bus/bus.ts'
import { planRequests } from '../../src/bus/send-plan.ts'
import type { Clock } from '../../src/clock/clock.ts'
import { unavailable } from '../../src/errors.ts'
import type { Logger } from '../../src/logger.ts'
import { MemoryConsumer } from './memory-consumer.ts'
import { idOf, MemoryGroup } from './memory-group.ts'
import { MemoryLog } from './memory-log.ts'

/**
 * The simulated result of a send. `refused` stores nothing; `answer_lost` stores all messages, but the producer gets an
 * error.
 */
export type SendResult = 'stored' | 'refused' | 'answer_lost'

export interface MemoryBusOptions {
  readonly clock: Clock
  /** Number of partitions of every topic; by default the number in the contracts. */
  readonly partitions?: number
  readonly logger?: Logger
  /** Decides the result of each send, to simulate an unavailable broker. By default all messages are stored. */
  readonly sendResultOf?: (messages: readonly OutgoingMessage[]) => SendResult
}

/** The bus of one simulated process, with access to the stored messages and offsets. */
export interface MemoryBus extends Bus {
  /** All messages of a topic, partition by partition. */
  stored(topic: TopicName): readonly IncomingMessage[]
  /** The next offset that a group would read, by partition. Partitions without a commit are missing. */
  committed(groupId: string, topic: TopicName): Map<number, bigint>
  /** The bus of another process at the same broker. */
  another(): MemoryBus
  /** Ends this process as if by SIGKILL: its consumers deliver and commit nothing more, and its sends are refused. */
  kill(): void
}

/** A message broker in memory on the clock port, for simulation and unit tests. */
export function createMemoryBus(options: MemoryBusOptions): MemoryBus {
  return new MemoryBroker(options).openBus()
}

class MemoryBroker {
  readonly #options: MemoryBusOptions
  readonly #log: MemoryLog
  readonly #groups = new Map<string, MemoryGroup>()
  readonly #consumers = new Set<MemoryConsumer>()

  constructor(options: MemoryBusOptions) {
    this.#options = options
    this.#log = new MemoryLog(options.partitions)
  }

  openBus(): MemoryBus {
    const own: MemoryConsumer[] = []
    let killed = false
    return {
      producer: () => this.#producer(() => killed),
      consumer: options => {
        const { clock, logger } = this.#options
        const consumer = new MemoryConsumer(this.#log, this.#group(options.groupId), clock, logger, options)
        own.push(consumer)
        this.#consumers.add(consumer)
        return consumer
      },
      stored: topic => this.#log.stored(topic),
      committed: (groupId, topic) => this.#committed(groupId, topic),
      another: () => this.openBus(),
      kill: () => {
        killed = true
        for (const consumer of own) consumer.kill()
      },
    }
  }

  #producer(isKilled: () => boolean) {
    let stopped = false
    const refuse = (why: string) => unavailable('Kafka', new Error(why))
    return {
      start: async () => undefined,
      stop: async () => {
        stopped = true
      },
      send: async (messages: readonly OutgoingMessage[]) => {
        if (stopped || isKilled()) throw refuse('The producer is stopped')
        planRequests(messages)
        const fate = this.#options.sendResultOf?.(messages) ?? 'stored'
        if (fate === 'refused') throw refuse('The send was refused')
        for (const message of messages) this.#log.append(message, this.#options.clock.now())
        for (const consumer of this.#consumers) consumer.wake()
        if (fate === 'answer_lost') throw refuse('The answer was lost')
      },
    }
  }

  #group(groupId: string): MemoryGroup {
    let group = this.#groups.get(groupId)
    if (group === undefined) {
      group = new MemoryGroup(this.#options.clock, topic => this.#log.partitionCount(topic))
      this.#groups.set(groupId, group)
    }
    return group
  }

  #committed(groupId: string, topic: TopicName): Map<number, bigint> {
    const committed = new Map<number, bigint>()
    for (let partition = 0; partition < this.#log.partitionCount(topic); partition += 1) {
      const offset = this.#group(groupId).committed.get(idOf({ topic, partition }))
      if (offset !== undefined) committed.set(partition, offset)
    }
    return committed
  }
}
