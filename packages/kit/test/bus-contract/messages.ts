import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import type { IncomingMessage } from '../../src/bus/bus.ts'
import { until } from '../until.ts'
import { acceptAllInto, type BusUnderTest, contractSetUp, message, numbered, numberOf, sum, TOPIC } from './set-up.ts'

/** The contract for sending and receiving messages. */
export function messageContract(open: () => Promise<BusUnderTest>): void {
  const setUp = contractSetUp(open)

  test('a message arrives with its key, bytes and headers, and a tombstone arrives as null', async () => {
    const { producer, consume } = await setUp()
    const got: IncomingMessage[] = []
    const value = Buffer.from([0, 1, 255, 10])
    const sentAt = Date.now()
    await producer.send([
      { topic: TOPIC, key: 'prj_1/pi_é', value, headers: { 'x-message-id': 'm1', received_at: '1' } },
      { topic: TOPIC, key: 'gone', value: null, headers: {} },
    ])
    await consume({ onBatch: acceptAllInto(got) })
    await until('both came', () => got.length === 2)
    const [first, deleted] = [got.find(({ key }) => key === 'prj_1/pi_é')!, got.find(({ key }) => key === 'gone')!]
    expect(first).toMatchObject({ topic: TOPIC, offset: 0n, headers: { 'x-message-id': 'm1', received_at: '1' } })
    expect(Buffer.compare(first.value!, value)).toBe(0)
    expect(Math.abs(first.timestampMs - sentAt)).toBeLessThan(60_000)
    expect(deleted.value).toBeNull()
  })

  test('messages of one key keep their order, within a send and over several', async () => {
    const { producer, consume } = await setUp()
    const got: IncomingMessage[] = []
    await consume({ onBatch: acceptAllInto(got) })
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
        return { accepted: messages.length }
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
    await consume({ onBatch: acceptAllInto(one) })
    await consume({ onBatch: acceptAllInto(two), groupId: `other-${randomBytes(4).toString('hex')}` })
    await until('both read all', () => one.length === 10 && two.length === 10)
  })

  test('one consumer reads several topics', async () => {
    const { producer, consume } = await setUp()
    await producer.send([...numbered(3), ...numbered(3).map(message => ({ ...message, topic: 'alerts' as const }))])
    const got: IncomingMessage[] = []
    await consume({ topics: [TOPIC, 'alerts'], onBatch: acceptAllInto(got) })
    await until('all came', () => got.length === 6)
    expect(got.filter(({ topic }) => topic === 'alerts')).toHaveLength(3)
  })

  test('a message that is too large is refused as such, and the producer goes on', async () => {
    const { producer, consume } = await setUp()
    const large = { ...message(0, 'large'), value: Buffer.alloc(3 * 1_048_576) }
    await expect(producer.send([large])).rejects.toMatchObject({ code: 'message_invalid', retryable: false })
    await producer.send([message(1, 'small')])
    const got: IncomingMessage[] = []
    await consume({ onBatch: acceptAllInto(got) })
    await until('the small one came', () => got.length === 1)
  })

  test('messages as large as a topic takes arrive, many in one send', async () => {
    const { producer, consume } = await setUp()
    const value = randomBytes(2 * 1_048_576 - 1_000)
    await producer.send([0, 1, 2, 3].map(number => ({ ...message(number, `large-${number}`), value })))
    const got: IncomingMessage[] = []
    await consume({ onBatch: acceptAllInto(got) })
    await until('all came', () => got.length === 4)
    expect(got.every(({ value: bytes }) => bytes?.length === value.length)).toBe(true)
  })

  test('messages larger than maxFetchBytes arrive, also while both partitions have others', async () => {
    const { producer, consume } = await setUp()
    const value = randomBytes(1_048_576)
    const large = [0, 1, 2, 3].map(number => ({ ...message(number, `large-${number}`), value }))
    for (const one of large) await producer.send([...numbered(50, 10), one])
    const got: IncomingMessage[] = []
    await consume({ maxFetchBytes: 10_000, onBatch: acceptAllInto(got) })
    await until('all came', () => got.length === 4 * 51)
    expect(got.filter(({ value: bytes }) => bytes?.length === value.length)).toHaveLength(4)
  })

  test('a stopped producer refuses to send', async () => {
    const { producer } = await setUp()
    await producer.stop()
    await expect(producer.send([message(0, 'late')])).rejects.toMatchObject({ code: 'unavailable', retryable: true })
  })
}
