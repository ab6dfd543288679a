import { HEADERS } from '@backstop/contracts'
import { afterEach, describe, expect, test } from 'vitest'
import { createManualClock } from '../../test/manual-clock.ts'
import { createMemoryBus, type MemoryBus, type SendResult } from '../../test/memory-bus.ts'
import { createLogger } from '../logger.ts'
import { createDelayLine } from './delay-line.ts'

const MINUTE_MS = 60_000
const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

/** @param options `brokerAheadMs`: how far the broker's clock is ahead, in milliseconds */
function setUp({ brokerAheadMs = 0, partitions = 1 } = {}) {
  const clock = createManualClock()
  let fate: SendResult = 'stored'
  let refusedValue: string | undefined
  const sends: string[][] = []
  const bus = createMemoryBus({
    clock: { ...clock, now: () => clock.now() + brokerAheadMs },
    partitions,
    sendResultOf: messages => {
      if (messages[0]?.topic !== 'rechecks.due') return 'stored'
      const values = messages.map(({ value }) => String(value))
      sends.push(values)
      return refusedValue !== undefined && values.includes(refusedValue) ? 'refused' : fate
    },
  })
  const startLine = (on: MemoryBus = bus) => {
    const line = createDelayLine({
      ...{ bus: on, producer: on.producer({ sendTimeoutMs: 1_000 }), clock, logger: createLogger('test', 'silent') },
      ...({ groupId: 'rechecks', topic: 'rechecks', maxDelayMs: MINUTE_MS } as const),
      onFatal: error => {
        throw error
      },
    })
    stops.push(() => line.stop())
    return line.start()
  }
  const producer = bus.producer({ sendTimeoutMs: 1_000 })
  const send = (value: string, headers: Record<string, string>, key = 'k') =>
    producer.send([{ topic: 'rechecks', key, value: Buffer.from(value), headers }])
  const sendDueIn = (value: string, ms: number, key?: string) =>
    send(value, { [HEADERS.dueAt]: String(clock.now() + ms) }, key)
  const moved = () => bus.stored('rechecks.due').map(({ value }) => String(value))
  const committed = () => bus.committed('rechecks', 'rechecks').get(0)
  const setSendResult = (next: SendResult) => {
    fate = next
  }
  const refuse = (value: string) => {
    refusedValue = value
  }
  return { clock, bus, startLine, send, sendDueIn, sends, moved, committed, setSendResult, refuse }
}

test('a message is never early and comes at its time, unchanged', async () => {
  const { clock, bus, startLine, sendDueIn, moved, committed } = setUp()
  await startLine()
  await sendDueIn('a', MINUTE_MS)
  await clock.advance(MINUTE_MS - 1)
  expect(moved()).toEqual([])
  expect(committed()).toBeUndefined()
  await clock.advance(1)
  expect(bus.stored('rechecks.due')[0]).toMatchObject({
    key: 'k',
    value: Buffer.from('a'),
    headers: { [HEADERS.dueAt]: String(clock.now()) },
  })
  expect(committed()).toBe(1n)
})

test.each([-3_600_000, 3_600_000])(
  'a broker whose clock is %i ms ahead makes no message early or late',
  async aheadMs => {
    const { clock, startLine, sendDueIn, moved } = setUp({ brokerAheadMs: aheadMs })
    await startLine()
    await sendDueIn('a', MINUTE_MS)
    await clock.advance(MINUTE_MS - 1)
    expect(moved()).toEqual([])
    await clock.advance(1)
    expect(moved()).toEqual(['a'])
  },
)

test('each message comes at its own time, and those that are due together in one send', async () => {
  const { clock, startLine, sendDueIn, moved } = setUp()
  await startLine()
  await sendDueIn('a', 1_000)
  await sendDueIn('b', 1_000)
  await sendDueIn('c', 1_500)
  await clock.advance(1_000)
  expect(moved()).toEqual(['a', 'b'])
  await clock.advance(499)
  expect(moved()).toEqual(['a', 'b'])
  await clock.advance(1)
  expect(moved()).toEqual(['a', 'b', 'c'])
})

test('messages that become due within 50 ms come together, when the last of them is due', async () => {
  const { clock, startLine, sendDueIn, moved } = setUp()
  await startLine()
  await sendDueIn('a', 1_000)
  await sendDueIn('b', 1_030)
  await sendDueIn('c', 1_051)
  await clock.advance(1_029)
  expect(moved()).toEqual([])
  await clock.advance(1)
  expect(moved()).toEqual(['a', 'b'])
  await clock.advance(21)
  expect(moved()).toEqual(['a', 'b', 'c'])
})

test('a message that was written late comes at its time, although messages before it are due later', async () => {
  const { clock, startLine, sendDueIn, moved, committed } = setUp()
  await startLine()
  await sendDueIn('first', MINUTE_MS)
  await clock.advance(1_000)
  await sendDueIn('late', 10_000)
  await clock.advance(10_000)
  expect(moved()).toEqual(['late'])
  expect(committed()).toBeUndefined()
  await clock.advance(MINUTE_MS)
  expect(moved()).toEqual(['late', 'first'])
  expect(committed()).toBe(2n)
})

describe('an invalid due time makes a message due at once', () => {
  test.each([
    { name: 'none', headers: {} },
    { name: 'no number', headers: { [HEADERS.dueAt]: 'soon' } },
    { name: 'a negative one', headers: { [HEADERS.dueAt]: '-5' } },
    { name: 'a day further away than the line delays', headers: { [HEADERS.dueAt]: String(Date.UTC(2026, 0, 2)) } },
    { name: 'a number beyond all time', headers: { [HEADERS.dueAt]: '9'.repeat(40) } },
    { name: 'one long past', headers: { [HEADERS.dueAt]: '1' } },
  ])('$name', async ({ headers }) => {
    const { clock, startLine, send, moved, committed } = setUp()
    await startLine()
    await send('a', headers)
    await clock.settle()
    expect(moved()).toEqual(['a'])
    expect(committed()).toBe(1n)
  })
})

test('a line that is killed and started elsewhere neither shortens nor resets the delay', async () => {
  const { clock, bus, startLine, sendDueIn, moved } = setUp()
  await startLine()
  await sendDueIn('a', MINUTE_MS)
  await clock.advance(30_000)
  bus.kill()
  await startLine(bus.another())
  await clock.advance(29_999)
  expect(moved()).toEqual([])
  await clock.advance(1)
  expect(moved()).toEqual(['a'])
})

test('nothing is committed before the broker has what was due, and it is sent again until then', async () => {
  const { clock, startLine, sendDueIn, moved, committed, setSendResult } = setUp()
  setSendResult('refused')
  await startLine()
  await sendDueIn('a', 1_000)
  await clock.advance(20_000)
  expect(moved()).toEqual([])
  expect(committed()).toBeUndefined()
  setSendResult('stored')
  await clock.advance(30_000)
  expect(moved()).toEqual(['a'])
  expect(committed()).toBe(1n)
})

test('an answer that was lost doubles a message but never loses one', async () => {
  const { clock, startLine, sendDueIn, moved, committed, setSendResult } = setUp()
  setSendResult('answer_lost')
  await startLine()
  await sendDueIn('a', 1_000)
  await clock.advance(1_000)
  setSendResult('stored')
  await clock.advance(30_000)
  expect(moved()).toEqual(['a', 'a'])
  expect(committed()).toBe(1n)
})

describe('messages of several partitions', () => {
  const KEYS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']

  test('that are due together come in one send', async () => {
    const { clock, startLine, sendDueIn, sends, bus } = setUp({ partitions: 4 })
    await startLine()
    for (const key of KEYS) await sendDueIn(key, 1_000, key)
    expect(new Set(bus.stored('rechecks').map(({ partition }) => partition)).size).toBeGreaterThan(1)
    await clock.advance(1_000)
    expect(sends.map(values => values.toSorted())).toEqual([KEYS])
  })

  test('come although a message of another partition is refused again and again, and none of its partition overtakes it', async () => {
    const { clock, startLine, sendDueIn, moved, refuse, bus } = setUp({ partitions: 4 })
    refuse('a')
    await startLine()
    for (const key of KEYS) await sendDueIn(key, 1_000, key)
    const stored = bus.stored('rechecks')
    const partitionOf = (value: string) => stored.find(one => String(one.value) === value)?.partition
    await clock.advance(120_000)
    expect(moved().toSorted()).toEqual(KEYS.filter(key => partitionOf(key) !== partitionOf('a')))
  })
})

test('a partition that another process gets is sent by that process, once', async () => {
  const { clock, bus, startLine, sendDueIn, moved } = setUp({ partitions: 4 })
  await startLine()
  const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
  for (const key of keys) await sendDueIn(key, MINUTE_MS, key)
  await clock.advance(30_000)
  await startLine(bus.another())
  await clock.advance(30_000)
  expect(moved().toSorted()).toEqual(keys)
})

test('a flood beyond the memory of a partition comes completely and in order', async () => {
  const { clock, startLine, sendDueIn, moved, committed } = setUp()
  await startLine()
  for (let number = 0; number < 3_000; number++) await sendDueIn(String(number), MINUTE_MS)
  await clock.advance(MINUTE_MS + 1_000)
  expect(moved()).toEqual(Array.from({ length: 3_000 }, (_, number) => String(number)))
  expect(committed()).toBe(3_000n)
})
