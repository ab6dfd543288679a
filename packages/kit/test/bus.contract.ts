import { randomBytes } from 'node:crypto'
import type { TopicName } from '@backstop/contracts'
import { afterEach, describe, expect, test } from 'vitest'
import type {
  Batch,
  BatchProgress,
  Bus,
  Consumer,
  ConsumerOptions,
  IncomingMessage,
  OutgoingMessage,
} from '../src/bus/bus.ts'
import { until } from './until.ts'

/** A broker that every implementation of the bus brings along, with the topics below made and empty. */
export interface BusUnderTest {
  /** The bus of one process. */
  readonly bus: Bus
  /** The next offset that a group would read, by partition; undefined or absent where it has committed nothing. */
  committed(groupId: string, topic: TopicName): Promise<ReadonlyMap<number, bigint | undefined>>
}

/** Two partitions each. */
export const CONTRACT_TOPICS = ['operations', 'alerts'] as const satisfies readonly TopicName[]
const TOPIC = 'operations'

/** What every bus promises. `open` gives empty topics each time. */
export function busContract(name: string, open: () => Promise<BusUnderTest>): void {
  describe(`the bus contract: ${name}`, () => {
    const cleanUp: (() => Promise<void>)[] = []
    afterEach(async () => {
      for (const act of cleanUp.splice(0).reverse()) await act()
    })

    async function setUp() {
      const under = await open()
      const producer = under.bus.producer({ sendTimeoutMs: 10_000 })
      await producer.start()
      cleanUp.push(() => producer.stop())
      const groupId = `group-${randomBytes(4).toString('hex')}`
      const consume = async (
        options: Partial<ConsumerOptions> & Pick<ConsumerOptions, 'onBatch'>,
      ): Promise<Consumer> => {
        const consumer = under.bus.consumer({
          groupId,
          topics: [TOPIC],
          commit: 'taken',
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

    test('a message arrives with its key, bytes and headers, and a tombstone arrives as null', async () => {
      const { producer, consume } = await setUp()
      const got: IncomingMessage[] = []
      const value = Buffer.from([0, 1, 255, 10])
      const sentAt = Date.now()
      await producer.send([
        { topic: TOPIC, key: 'prj_1/pi_é', value, headers: { 'x-message-id': 'm1', received_at: '1' } },
        { topic: TOPIC, key: 'gone', value: null, headers: {} },
      ])
      await consume({ onBatch: takeAll(got) })
      await until('both came', () => got.length === 2)
      const [first, gone] = [got.find(({ key }) => key === 'prj_1/pi_é')!, got.find(({ key }) => key === 'gone')!]
      expect(first).toMatchObject({ topic: TOPIC, offset: 0n, headers: { 'x-message-id': 'm1', received_at: '1' } })
      expect(Buffer.compare(first.value!, value)).toBe(0)
      expect(Math.abs(first.timestampMs - sentAt)).toBeLessThan(60_000)
      expect(gone.value).toBeNull()
    })

    test('messages of one key keep their order, within a send and over several', async () => {
      const { producer, consume } = await setUp()
      const got: IncomingMessage[] = []
      await consume({ onBatch: takeAll(got) })
      for (let round = 0; round < 5; round += 1)
        await producer.send(numbered(20, round * 20, number => `key-${number % 4}`))
      await until('all came', () => got.length === 100)
      for (const key of ['key-0', 'key-1', 'key-2', 'key-3']) {
        const numbers = got.filter(message => message.key === key).map(numberOf)
        expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
        expect(numbers).toHaveLength(25)
      }
    })

    test('a partition has one batch at work at a time, none larger than was asked for', async () => {
      const { producer, consume } = await setUp()
      await producer.send(numbered(50))
      const busy = new Set<number>()
      const sizes: number[] = []
      let overlaps = 0
      await consume({
        maxBatchMessages: 7,
        async onBatch({ partition, messages }) {
          if (busy.has(partition)) overlaps += 1
          busy.add(partition)
          await new Promise(resolve => setImmediate(resolve))
          busy.delete(partition)
          sizes.push(messages.length)
          return { taken: messages.length }
        },
      })
      await until('all came', () => sum(sizes) === 50)
      expect(overlaps).toBe(0)
      expect(Math.max(...sizes)).toBeLessThanOrEqual(7)
    })

    test('a consumer that starts on a new group reads from the beginning, and a second group reads all again', async () => {
      const { producer, consume } = await setUp()
      await producer.send(numbered(10))
      const [one, two]: [IncomingMessage[], IncomingMessage[]] = [[], []]
      await consume({ onBatch: takeAll(one) })
      await consume({ onBatch: takeAll(two), groupId: `other-${randomBytes(4).toString('hex')}` })
      await until('both read all', () => one.length === 10 && two.length === 10)
    })

    test('one consumer reads several topics', async () => {
      const { producer, consume } = await setUp()
      await producer.send([...numbered(3), ...numbered(3).map(message => ({ ...message, topic: 'alerts' as const }))])
      const got: IncomingMessage[] = []
      await consume({ topics: [TOPIC, 'alerts'], onBatch: takeAll(got) })
      await until('all came', () => got.length === 6)
      expect(got.filter(({ topic }) => topic === 'alerts')).toHaveLength(3)
    })

    test('what was taken is committed, and what was not comes again in the same order', async () => {
      const { producer, consume, sumCommitted } = await setUp()
      await producer.send(numbered(10, 0, () => 'one-key'))
      const seen: number[][] = []
      await consume({
        async onBatch({ messages }) {
          seen.push(messages.map(numberOf))
          return { taken: seen.length === 1 ? 4 : messages.length }
        },
      })
      await until('all are committed', async () => (await sumCommitted()) === 10)
      expect(seen.flat().slice(seen[0]!.length)).toEqual([4, 5, 6, 7, 8, 9])
    })

    test('with commit "completed" only the contiguous prefix is committed, whatever order the work ends in', async () => {
      const { producer, consume, sumCommitted } = await setUp()
      await producer.send(numbered(5, 0, () => 'one-key'))
      const held: { batch: Batch; message: IncomingMessage }[] = []
      await consume({
        commit: 'completed',
        async onBatch(batch) {
          held.push(...batch.messages.map(message => ({ batch, message })))
          return { taken: batch.messages.length }
        },
      })
      await until('all were handed out', () => held.length === 5)
      const complete = (number: number) => held[number]!.batch.complete(held[number]!.message)
      for (const number of [1, 2, 4]) complete(number)
      complete(0)
      await until('the prefix is committed', async () => (await sumCommitted()) === 3)
      complete(3)
      await until('all is committed', async () => (await sumCommitted()) === 5)
    })

    test('a pause holds its own partition for that long, and no other', async () => {
      const { producer, consume } = await setUp()
      const keys = await keysOnTwoPartitions()
      await producer.send([message(0, keys[0]), message(1, keys[1])])
      const calls: { partition: number; atMs: number }[] = []
      let paused: number | undefined
      await consume({
        async onBatch({ partition, messages }) {
          calls.push({ partition, atMs: performance.now() })
          paused ??= partition
          if (partition === paused && calls.filter(call => call.partition === partition).length === 1) {
            return { taken: 0, resumeAfterMs: 1_000 }
          }
          return { taken: messages.length }
        },
      })
      await until('three calls', () => calls.length === 3)
      const [first, again] = calls.filter(({ partition }) => partition === paused)
      const other = calls.find(({ partition }) => partition !== paused)!
      expect(again!.atMs - first!.atMs).toBeGreaterThanOrEqual(999)
      expect(again!.atMs - first!.atMs).toBeLessThan(2_500)
      expect(other.atMs).toBeLessThan(again!.atMs)
    })

    test('a pause after the whole batch was taken holds what comes next', async () => {
      const { producer, consume } = await setUp()
      await producer.send([message(0, 'one-key')])
      const calls: number[] = []
      await consume({
        async onBatch({ messages }) {
          calls.push(performance.now())
          return calls.length === 1 ? { taken: 1, resumeAfterMs: 800 } : { taken: messages.length }
        },
      })
      await until('the first came', () => calls.length === 1)
      await producer.send([message(1, 'one-key')])
      await until('the second came', () => calls.length === 2)
      expect(calls[1]! - calls[0]!).toBeGreaterThanOrEqual(799)
    })

    test('a handler that throws, even a TypeError, gets the batch again and ends nothing', async () => {
      const { producer, consume, sumCommitted } = await setUp()
      await producer.send([message(0, 'one-key')])
      let calls = 0
      await consume({
        async onBatch({ messages }) {
          calls += 1
          if (calls === 1) throw new TypeError('a fault of ours')
          return { taken: messages.length }
        },
      })
      await until('it was committed', async () => (await sumCommitted()) === 1)
      expect(calls).toBe(2)
    })

    test('after a restart of the group what was taken stays taken and the rest comes again', async () => {
      const { producer, consume } = await setUp()
      await producer.send(numbered(10, 0, () => 'one-key'))
      const before: IncomingMessage[] = []
      const first = await consume({
        maxBatchMessages: 5,
        async onBatch({ messages }) {
          if (before.length > 0) return { taken: 0, resumeAfterMs: 60_000 }
          before.push(...messages)
          return { taken: messages.length }
        },
      })
      await until('five were taken', () => before.length === 5)
      await first.stop()
      const after: IncomingMessage[] = []
      await consume({ onBatch: takeAll(after) })
      await until('the rest came', () => after.length === 5)
      expect(after.map(numberOf)).toEqual([5, 6, 7, 8, 9])
    })

    test('stop waits for the batch at work, tells it by its signal and commits it', async () => {
      const { producer, consume, sumCommitted } = await setUp()
      await producer.send([message(0, 'one-key')])
      const atWork = Promise.withResolvers<Batch>()
      const finish = Promise.withResolvers<void>()
      const consumer = await consume({
        async onBatch(batch) {
          atWork.resolve(batch)
          await finish.promise
          return { taken: 1 }
        },
      })
      const batch = await atWork.promise
      expect(batch.signal.aborted).toBe(false)
      const stopped = consumer.stop()
      await until('the signal is given', () => batch.signal.aborted)
      finish.resolve()
      await stopped
      expect(await sumCommitted()).toBe(1)
    })

    test('stop waits for handed-off messages, but not for those that were abandoned', async () => {
      const { producer, consume, sumCommitted } = await setUp()
      await producer.send(numbered(3, 0, () => 'one-key'))
      let batch: Batch | undefined
      const consumer = await consume({
        commit: 'completed',
        async onBatch(given) {
          batch = given
          return { taken: given.messages.length }
        },
      })
      await until('all were handed out', () => batch?.messages.length === 3)
      const startedAt = performance.now()
      const stopped = consumer.stop()
      await until('the signal is given', () => batch!.signal.aborted)
      batch!.complete(batch!.messages[0]!)
      batch!.abandon(batch!.messages[1]!)
      batch!.abandon(batch!.messages[2]!)
      await stopped
      expect(performance.now() - startedAt).toBeLessThan(2_500)
      expect(await sumCommitted()).toBe(1)
    })

    test('two members share the partitions; nothing is lost when one comes and one goes', {
      timeout: 90_000,
    }, async () => {
      const { producer, consume, sumCommitted } = await setUp()
      const [one, two]: [IncomingMessage[], IncomingMessage[]] = [[], []]
      let sent = 0
      const send = async (count: number) => {
        await producer.send(numbered(count, sent))
        sent += count
      }
      const first = await consume({ maxBatchMessages: 5, onBatch: takeAll(one) })
      await send(100)
      await until('the first works', () => one.length > 0)
      await consume({ maxBatchMessages: 5, onBatch: takeAll(two) })
      const bothWork = async () => {
        await send(10)
        return two.length > 0
      }
      await until('the second works, too', bothWork, { timeoutMs: 40_000, everyMs: 100 })
      await send(100)
      await first.stop()
      await send(100)
      await until('all is committed', async () => (await sumCommitted()) === sent, { timeoutMs: 40_000, everyMs: 100 })
      expect(new Set([...one, ...two].map(numberOf)).size).toBe(sent)
    })

    test('a message that is too large is refused as such, and the producer goes on', async () => {
      const { producer, consume } = await setUp()
      const large = { ...message(0, 'large'), value: Buffer.alloc(3 * 1_048_576) }
      await expect(producer.send([large])).rejects.toMatchObject({ code: 'message_invalid', retryable: false })
      await producer.send([message(1, 'small')])
      const got: IncomingMessage[] = []
      await consume({ onBatch: takeAll(got) })
      await until('the small one came', () => got.length === 1)
    })

    test('messages as large as a topic takes arrive, many in one send', async () => {
      const { producer, consume } = await setUp()
      const value = randomBytes(2 * 1_048_576 - 1_000)
      await producer.send([0, 1, 2, 3].map(number => ({ ...message(number, `large-${number}`), value })))
      const got: IncomingMessage[] = []
      await consume({ onBatch: takeAll(got) })
      await until('all came', () => got.length === 4)
      expect(got.every(({ value: bytes }) => bytes?.length === value.length)).toBe(true)
    })

    test('a stopped producer refuses to send', async () => {
      const { producer } = await setUp()
      await producer.stop()
      await expect(producer.send([message(0, 'late')])).rejects.toMatchObject({ code: 'unavailable', retryable: true })
    })

    test('progress is told from the start on and grows while a batch hangs', async () => {
      const { producer, consume, bus } = await setUp()
      const idle = bus.consumer({
        groupId: 'never',
        topics: [TOPIC],
        commit: 'taken',
        onBatch: takeAll([]),
        onFatal() {},
      })
      expect(idle.msSinceProgress()).toBe(Number.POSITIVE_INFINITY)
      await producer.send([message(0, 'one-key')])
      const finish = Promise.withResolvers<void>()
      let batch: Batch | undefined
      const consumer = await consume({
        async onBatch(given) {
          batch = given
          await finish.promise
          return { taken: given.messages.length }
        },
      })
      await until('the batch is at work', () => batch !== undefined)
      await until('progress stands still', () => consumer.msSinceProgress() > 300)
      await batch!.heartbeat()
      expect(consumer.msSinceProgress()).toBeLessThan(300)
      finish.resolve()
    })

    /** Two keys that this bus puts on different partitions, found by asking it. */
    async function keysOnTwoPartitions(): Promise<[string, string]> {
      const probe = await open()
      const producer = probe.bus.producer({ sendTimeoutMs: 10_000 })
      await producer.start()
      await producer.send(numbered(20, 0, number => `probe-${number}`))
      const got: IncomingMessage[] = []
      const group = { groupId: `probe-${randomBytes(4).toString('hex')}`, topics: [TOPIC], commit: 'taken' } as const
      const consumer = probe.bus.consumer({ ...group, onBatch: takeAll(got), onFatal() {} })
      await consumer.start()
      await until('the probes came', () => got.length === 20)
      await Promise.all([consumer.stop(), producer.stop()])
      const first = got.find(({ partition }) => partition === 0)
      const second = got.find(({ partition }) => partition === 1)
      return [first!.key, second!.key]
    }
  })
}

function takeAll(into: IncomingMessage[]): (batch: Batch) => Promise<BatchProgress> {
  return async ({ messages }) => {
    into.push(...messages)
    return { taken: messages.length }
  }
}

function message(number: number, key: string): OutgoingMessage {
  return { topic: TOPIC, key, value: Buffer.from('x'), headers: { number: String(number) } }
}

function numbered(count: number, from = 0, keyOf = (number: number) => `key-${number}`): OutgoingMessage[] {
  return Array.from({ length: count }, (_, index) => message(from + index, keyOf(from + index)))
}

function numberOf({ headers }: IncomingMessage): number {
  return Number(headers.number)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
