import { HEADERS, isoTime, type Recheck } from '@backstop/contracts'
import { expect, onTestFinished, test } from 'vitest'
import { createFixedCodec } from '../../test/fixed-codec.ts'
import { createManualClock } from '../../test/manual-clock.ts'
import { createMemoryBus } from '../../test/memory-bus.ts'
import { createLogger } from '../logger.ts'
import { createMetrics } from '../ops/metrics.ts'
import { createConsumerMetrics } from './consumer-metrics.ts'
import { createWorkLoop } from './work-loop.ts'

const HOUR_MS = 3_600_000

/** A running loop that lists the looks that it handles. */
async function setUp() {
  const clock = createManualClock()
  const bus = createMemoryBus({ clock, partitions: 1 })
  const producer = bus.producer({ sendTimeoutMs: 1_000 })
  const codec = createFixedCodec()
  const handled: string[] = []
  const loop = createWorkLoop({
    ...{ bus, producer, codec, clock, logger: createLogger('test', 'silent'), groupId: 'reconciler' },
    metrics: createConsumerMetrics(createMetrics('test')),
    topics: { 'rechecks.due': 'recheck' },
    deadTopic: 'inbound.dead',
    handle: async messages => void handled.push(...messages.map(({ message }) => message.look_id)),
    onFatal: error => {
      throw error
    },
  })
  onTestFinished(() => loop.stop())
  await loop.start()
  const sendDueIn = async (looks: Readonly<Record<string, number>>) => {
    const messages = Object.entries(looks).map(([look_id, ms]) => ({
      topic: 'rechecks.due' as const,
      key: 'k',
      value: codec.encode('recheck', {
        project_id: 'prj',
        ref: 'r',
        look_id,
        due_at: isoTime(clock.now()),
      } satisfies Recheck),
      headers: { [HEADERS.dueAt]: String(clock.now() + ms) },
    }))
    await producer.send(messages)
    await clock.settle()
  }
  return { clock, handled, sendDueIn, committed: () => bus.committed('reconciler', 'rechecks.due').get(0) }
}

test('a message that is early by this clock waits until it is due, with those behind it, and none before it', async () => {
  const { clock, handled, sendDueIn, committed } = await setUp()
  await sendDueIn({ due: -1, early: 40, behind: 0 })
  expect(handled).toEqual(['due'])
  expect(committed()).toBe(1n)
  await clock.advance(39)
  expect(handled).toEqual(['due'])
  await clock.advance(1)
  expect(handled).toEqual(['due', 'early', 'behind'])
  expect(committed()).toBe(3n)
})

test('a due time that no difference between clocks explains delays nothing', async () => {
  const { handled, sendDueIn } = await setUp()
  await sendDueIn({ invalid: HOUR_MS, behind: 0 })
  expect(handled).toEqual(['invalid', 'behind'])
})
