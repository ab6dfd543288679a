import type { TopicName } from '@backstop/contracts'
import type { Bus, IncomingMessage, OutgoingMessage, Producer } from '../../src/bus/index.ts'
import { planRequests } from '../../src/bus/send-plan.ts'
import { type Clock, sleep } from '../../src/clock/index.ts'
import { AppError, unavailable } from '../../src/errors.ts'
import type { Logger } from '../../src/logger.ts'
import type { Wire } from '../simulated-mongo/index.ts'
import { SimulatedConsumer } from './consumer.ts'
import { Group, SESSION_TIMEOUT_MS } from './group.ts'
import { TopicLog } from './log.ts'

/** First and longest pause before a request is repeated, in milliseconds; those of the Kafka bus. */
const RETRY_MS = [50, 500] as const

/** A Kafka cluster in memory on a clock. */
export class Broker {
  readonly log: TopicLog
  readonly #clock: Clock
  readonly #groups = new Map<string, Group>()

  /** @param clock the broker's own; timestamps of messages and the coordinators' time-outs use it */
  constructor(clock: Clock, partitions?: number) {
    this.log = new TopicLog(partitions)
    this.#clock = clock
  }

  group(groupId: string): Group {
    let group = this.#groups.get(groupId)
    if (group === undefined) {
      group = new Group(this.log, this.#clock)
      this.#groups.set(groupId, group)
    }
    return group
  }

  groups(): ReadonlyMap<string, Group> {
    return this.#groups
  }

  /** Whether any partition has a leader. Without one, no message is written or read. */
  setAvailable(isAvailable: boolean): void {
    for (const topic of this.log.topics()) {
      for (let partition = 0; partition < this.log.countPartitions(topic); partition += 1)
        this.log.setLeader(topic, partition, isAvailable)
    }
  }

  /** Adds a partition to topics. Their groups are formed anew when their members have noticed it. @param noticedMs after how long */
  addPartitions(topics: readonly TopicName[], noticedMs: number): void {
    for (const topic of topics) this.log.addPartition(topic)
    for (const group of this.#groups.values())
      if (topics.some(topic => group.readTopics.has(topic))) this.#clock.schedule(noticedMs, () => group.rebalance())
  }

  /** Removes what every group has read and committed, as the retention does days later; dead letters stay longer. @returns how many messages */
  removeRead(): number {
    let count = 0
    const groups = [...this.#groups.values()].filter(({ commits }) => commits)
    for (const topic of new Set(groups.flatMap(({ readTopics }) => [...readTopics]))) {
      if (topic.endsWith('.dead')) continue
      const readers = groups.filter(({ readTopics }) => readTopics.has(topic))
      for (let partition = 0; partition < this.log.countPartitions(topic); partition += 1) {
        const offsets = readers.map(({ committed }) => Number(committed.get(`${topic}/${partition}`) ?? 0n))
        count += this.log.removeBefore(topic, partition, Math.min(...offsets))
      }
    }
    return count
  }

  /** The bus of one process. */
  openBus(process: { readonly wire: Wire; readonly clock: Clock; readonly logger?: Logger | undefined }): SimulatedBus {
    const consumers: { consumer: SimulatedConsumer; group: Group }[] = []
    return {
      producer: ({ sendTimeoutMs }) => this.#producer(process, sendTimeoutMs),
      consumer: options => {
        const consumer = new SimulatedConsumer({ ...process, broker: this }, options)
        consumers.push({ consumer, group: this.group(options.groupId) })
        return consumer
      },
      lost: () => {
        for (const { consumer, group } of consumers)
          this.#clock.schedule(SESSION_TIMEOUT_MS, () => group.leave(consumer))
      },
      kill: () => {
        for (const { consumer } of consumers) consumer.kill()
      },
    }
  }

  /** Stores a request. Messages of partitions without a leader or enough replicas are refused, after the others are stored. */
  append(messages: readonly OutgoingMessage[]): void {
    let isRefused = false
    for (const message of messages) {
      const partition = this.log.partitionOf(message)
      if (this.log.takesMessages(message.topic, partition)) this.log.append(message, partition, this.#clock.now())
      else isRefused = true
    }
    if (isRefused) throw this.unreachable()
  }

  unreachable(): AppError {
    return unavailable('Kafka', new Error('The broker cannot be reached'))
  }

  stored(topic: TopicName): readonly IncomingMessage[] {
    return this.log.stored(topic)
  }

  #producer({ wire, clock }: { readonly wire: Wire; readonly clock: Clock }, sendTimeoutMs: number): Producer {
    const sending = new Set<Promise<void>>()
    let isStopped = false
    const send = async (messages: readonly OutgoingMessage[]) => {
      const deadline = clock.now() + sendTimeoutMs
      for (const request of planRequests(messages)) {
        const command = {
          server: 'kafka' as const,
          name: `${request[0]!.topic}.produce`,
          isWrite: true,
          broken: () => this.unreachable(),
        }
        for (let pauseMs: number = RETRY_MS[0]; ; pauseMs = Math.min(pauseMs * 2, RETRY_MS[1])) {
          if (isStopped) throw this.unreachable()
          const failure = await wire
            .call(command, () => this.append(request))
            .then(
              () => undefined,
              (error: unknown) => error,
            )
          if (failure === undefined) break
          const mayRetry = failure instanceof AppError && failure.retryable
          if (!mayRetry || clock.now() + pauseMs >= deadline) throw failure
          await sleep(clock, pauseMs)
        }
      }
    }
    return {
      start: async () => {},
      send: messages => {
        const sent = send(messages)
        sending.add(sent)
        const forget = () => void sending.delete(sent)
        sent.then(forget, forget)
        return sent
      },
      stop: async () => {
        await Promise.allSettled(sending)
        isStopped = true
      },
    }
  }
}

/** The bus of a process at a simulated broker. */
export interface SimulatedBus extends Bus {
  /** The process ended without leaving its groups: the coordinators notice it after the session time-out. */
  lost(): void
  /** As `lost`, but the coordinators notice it at once, and nothing of the process continues. */
  kill(): void
}
