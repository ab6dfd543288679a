import { randomBytes } from 'node:crypto'
import type { TopicName } from '@backstop/contracts'
import { afterEach } from 'vitest'
import type {
  Batch,
  BatchProgress,
  Bus,
  Consumer,
  ConsumerOptions,
  IncomingMessage,
  OutgoingMessage,
} from '../../src/bus/bus.ts'

/** A bus implementation under test with its broker. The topics below exist and are empty. */
export interface BusUnderTest {
  /** The bus of one process. */
  readonly bus: Bus
  /** The next offset that a group would read, by partition; undefined or missing if the group has committed nothing. */
  committed(groupId: string, topic: TopicName): Promise<ReadonlyMap<number, bigint | undefined>>
}

/** The topics of the contract tests, with two partitions each. */
export const CONTRACT_TOPICS = ['operations', 'alerts'] as const satisfies readonly TopicName[]
export const TOPIC = 'operations'

/** Opens a new bus before each test and closes it afterwards. Call it once per group of tests. */
export function contractSetUp(open: () => Promise<BusUnderTest>) {
  const cleanUp: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const act of cleanUp.splice(0).reverse()) await act()
  })

  return async function setUp() {
    const under = await open()
    const producer = under.bus.producer({ sendTimeoutMs: 10_000 })
    await producer.start()
    cleanUp.push(() => producer.stop())
    const groupId = `group-${randomBytes(4).toString('hex')}`
    const consume = async (options: Partial<ConsumerOptions> & Pick<ConsumerOptions, 'onBatch'>): Promise<Consumer> => {
      const consumer = under.bus.consumer({
        groupId,
        topics: [TOPIC],
        commit: 'accepted',
        drainTimeoutMs: 3_000,
        onFatal: error => {
          throw error
        },
        ...options,
      })
      await consumer.start()
      cleanUp.push(() => consumer.stop())
      return consumer
    }
    const sumCommitted = async () => {
      const offsets = await under.committed(groupId, TOPIC)
      return [...offsets.values()].reduce((sum: number, offset) => sum + Number(offset ?? 0n), 0)
    }
    return { ...under, producer, groupId, consume, sumCommitted }
  }
}

export function acceptAllInto(into: IncomingMessage[]): (batch: Batch) => Promise<BatchProgress> {
  return async ({ messages }) => {
    into.push(...messages)
    return { accepted: messages.length }
  }
}

export function message(number: number, key: string): OutgoingMessage {
  return { topic: TOPIC, key, value: Buffer.from('x'), headers: { number: String(number) } }
}

export function numbered(count: number, from = 0, keyOf = (number: number) => `key-${number}`): OutgoingMessage[] {
  return Array.from({ length: count }, (_, index) => message(from + index, keyOf(from + index)))
}

export function numberOf({ headers }: IncomingMessage): number {
  return Number(headers.number)
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
