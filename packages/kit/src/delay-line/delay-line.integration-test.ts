import { HEADERS } from '@backstop/contracts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestStack, testStack } from '../../test/stack.ts'
import { until } from '../../test/until.ts'
import { systemClock } from '../clock/clock.ts'
import { createDelayLine } from './delay-line.ts'

let stack: TestStack
beforeAll(async () => {
  stack = await testStack()
  await stack.createTopics(['rechecks', 'rechecks.due'], 3)
})
afterAll(() => stack.close())

test('on the real broker no message is early and each is less than a second late', async () => {
  const bus = stack.bus()
  const producer = bus.producer({ sendTimeoutMs: 5_000 })
  await producer.start()
  const options = { bus, producer, clock: systemClock, logger: stack.logger, groupId: 'line', maxDelayMs: 10_000 }
  const onFatal = (error: unknown) => {
    throw error
  }
  const line = createDelayLine({ ...options, topic: 'rechecks', onFatal })
  await line.start()
  const lateBy: number[] = []
  const reader = bus.consumer({
    ...{ groupId: 'reader', topics: ['rechecks.due'], commit: 'accepted', onFatal },
    async onBatch({ messages }) {
      for (const { headers, timestampMs } of messages) lateBy.push(timestampMs - Number(headers[HEADERS.dueAt]))
      return { accepted: messages.length }
    },
  })
  await reader.start()
  const total = 60
  for (let number = 0; number < total; number += 1) {
    const headers = { [HEADERS.dueAt]: String(Date.now() + 2_000) }
    await producer.send([{ topic: 'rechecks', key: `key-${number}`, value: Buffer.from('x'), headers }])
    await new Promise(resolve => setTimeout(resolve, 30))
  }
  await until('all came', () => lateBy.length === total)
  expect(Math.min(...lateBy)).toBeGreaterThanOrEqual(0)
  expect(lateBy.toSorted((a, b) => a - b)[Math.floor(total * 0.99) - 1]).toBeLessThan(1_000)
  await Promise.all([line.stop(), reader.stop()])
  await producer.stop()
})

test('a message larger than the fetch limit of the delay line delays no other message', async () => {
  const bus = stack.bus()
  const producer = bus.producer({ sendTimeoutMs: 5_000 })
  await producer.start()
  const onFatal = (error: unknown) => {
    throw error
  }
  const options = { bus, producer, clock: systemClock, logger: stack.logger, maxDelayMs: 10_000 }
  const line = createDelayLine({ ...options, groupId: 'large', topic: 'rechecks', onFatal })
  const sizes: number[] = []
  const reader = bus.consumer({
    ...{ groupId: 'reader-of-large', topics: ['rechecks.due'], commit: 'accepted', onFatal },
    async onBatch({ messages }) {
      for (const { key, value } of messages) if (key === 'large') sizes.push(value?.length ?? 0)
      return { accepted: messages.length }
    },
  })
  await Promise.all([line.start(), reader.start()])
  for (const size of [1, 1_000_000, 2]) {
    const headers = { [HEADERS.dueAt]: String(Date.now() + 200) }
    await producer.send([{ topic: 'rechecks', key: 'large', value: Buffer.alloc(size), headers }])
  }
  await until('all came', () => sizes.length === 3)
  expect(sizes).toEqual([1, 1_000_000, 2])
  await Promise.all([line.stop(), reader.stop()])
  await producer.stop()
})
