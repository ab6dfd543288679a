import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Batch, IncomingMessage } from '../../src/bus/bus.ts'
import { until } from '../until.ts'
import { acceptAllInto, type BusUnderTest, contractSetUp, message, numbered, numberOf, TOPIC } from './set-up.ts'

/** The contract for commits, repeated deliveries and pauses. */
export function progressContract(open: () => Promise<BusUnderTest>): void {
  const setUp = contractSetUp(open)

  test('accepted messages are committed, and the others are delivered again in the same order', async () => {
    const { producer, consume, sumCommitted } = await setUp()
    await producer.send(numbered(10, 0, () => 'one-key'))
    const seen: number[][] = []
    await consume({
      async onBatch({ messages }) {
        seen.push(messages.map(numberOf))
        return { accepted: seen.length === 1 ? 4 : messages.length }
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
        return { accepted: batch.messages.length }
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

  test('with onlyRecentMs each assignment begins with the recent messages, and nothing is committed', async () => {
    const { producer, consume, sumCommitted } = await setUp()
    const read = async (onlyRecentMs: number, different: number) => {
      const got: IncomingMessage[] = []
      const consumer = await consume({ onlyRecentMs, onBatch: acceptAllInto(got) })
      const numbers = () => new Set(got.map(numberOf))
      const hasAll = async () => {
        if (numbers().size >= different) return true
        await producer.send([message(10, 'new')])
        return false
      }
      await until('the messages came', hasAll, { timeoutMs: 40_000, everyMs: 200 })
      await consumer.stop()
      return numbers()
    }
    await producer.send(numbered(10))
    for (const _ of [1, 2]) expect((await read(600_000, 11)).size).toBe(11)
    expect(await read(1, 1)).toEqual(new Set([10]))
    expect(await sumCommitted()).toBe(0)
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
          return { accepted: 0, resumeAfterMs: 1_000 }
        }
        return { accepted: messages.length }
      },
    })
    await until('three calls', () => calls.length === 3)
    const [first, again] = calls.filter(({ partition }) => partition === paused)
    const other = calls.find(({ partition }) => partition !== paused)!
    expect(again!.atMs - first!.atMs).toBeGreaterThanOrEqual(999)
    expect(again!.atMs - first!.atMs).toBeLessThan(2_500)
    expect(other.atMs).toBeLessThan(again!.atMs)
  })

  test('a pause after the whole batch was accepted delays the next messages', async () => {
    const { producer, consume } = await setUp()
    await producer.send([message(0, 'one-key')])
    const calls: number[] = []
    await consume({
      async onBatch({ messages }) {
        calls.push(performance.now())
        return calls.length === 1 ? { accepted: 1, resumeAfterMs: 800 } : { accepted: messages.length }
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
        return { accepted: messages.length }
      },
    })
    await until('it was committed', async () => (await sumCommitted()) === 1)
    expect(calls).toBe(2)
  })

  test('progress is reported from the start on and grows while a batch hangs', async () => {
    const { producer, consume, bus } = await setUp()
    const idle = bus.consumer({
      groupId: 'never',
      topics: [TOPIC],
      commit: 'accepted',
      onBatch: acceptAllInto([]),
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
        return { accepted: given.messages.length }
      },
    })
    await until('the batch is at work', () => batch !== undefined)
    await until('progress stands still', () => consumer.msSinceProgress() > 300)
    await batch!.heartbeat()
    expect(consumer.msSinceProgress()).toBeLessThan(300)
    finish.resolve()
  })

  /** Finds two keys that the bus assigns to different partitions, by sending messages. */
  async function keysOnTwoPartitions(): Promise<[string, string]> {
    const probe = await open()
    const producer = probe.bus.producer({ sendTimeoutMs: 10_000 })
    await producer.start()
    await producer.send(numbered(20, 0, number => `probe-${number}`))
    const got: IncomingMessage[] = []
    const group = { groupId: `probe-${randomBytes(4).toString('hex')}`, topics: [TOPIC], commit: 'accepted' } as const
    const consumer = probe.bus.consumer({ ...group, onBatch: acceptAllInto(got), onFatal() {} })
    await consumer.start()
    await until('the probes came', () => got.length === 20)
    await Promise.all([consumer.stop(), producer.stop()])
    const first = got.find(({ partition }) => partition === 0)
    const second = got.find(({ partition }) => partition === 1)
    return [first!.key, second!.key]
  }
}
