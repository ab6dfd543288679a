import type { TopicName } from '@backstop/contracts'
import type { Bus, IncomingMessage, OutgoingMessage, Producer } from '../src/bus/bus.ts'
import type { Clock } from '../src/clock/clock.ts'
import { unavailable } from '../src/errors.ts'
import type { Logger } from '../src/logger.ts'
import { Broker } from './simulated-kafka/index.ts'
import type { Wire } from './simulated-mongo/wire.ts'

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

/** A process at a simulated broker without delays, for unit tests. */
export function createMemoryBus(options: MemoryBusOptions): MemoryBus {
  return openProcess(new Broker(options.clock, options.partitions), options)
}

function openProcess(broker: Broker, options: MemoryBusOptions): MemoryBus {
  const { clock, logger } = options
  let isKilled = false
  const wire: Wire = {
    now: () => clock.now(),
    // A request is carried out after the call that caused it, so a fetch finds all messages of one send.
    call: (_command, act) => (isKilled ? new Promise(() => {}) : Promise.resolve().then(act)),
    wait: () => Promise.reject(new Error('The bus does not wait')),
  }
  const bus = broker.openBus({ wire, clock, logger })
  return {
    producer: producerOptions => producerOf(bus.producer(producerOptions), options, () => isKilled),
    consumer: bus.consumer,
    stored: topic => broker.stored(topic),
    committed: (groupId, topic) => committedBy(broker, groupId, topic),
    another: () => openProcess(broker, options),
    kill() {
      isKilled = true
      bus.kill()
    },
  }
}

/** A producer whose sends have the results that the test decides. */
function producerOf(producer: Producer, { sendResultOf }: MemoryBusOptions, isKilled: () => boolean): Producer {
  const refuse = (why: string) => unavailable('Kafka', new Error(why))
  return {
    ...producer,
    async send(messages) {
      const result = sendResultOf?.(messages) ?? 'stored'
      if (isKilled() || result === 'refused') throw refuse('The send was refused')
      await producer.send(messages)
      if (result === 'answer_lost') throw refuse('The answer was lost')
    },
  }
}

function committedBy(broker: Broker, groupId: string, topic: TopicName): Map<number, bigint> {
  const { committed } = broker.group(groupId)
  const partitions = Array.from({ length: broker.log.countPartitions(topic) }, (_, partition) => partition)
  return new Map(
    partitions.flatMap(partition => {
      const offset = committed.get(`${topic}/${partition}`)
      return offset === undefined ? [] : [[partition, offset] as const]
    }),
  )
}
