import type { Batch } from '@backstop/kit/bus'
import { describe, expect, test } from 'vitest'
import { createQueueHarness, job, type QueueHarnessOptions } from '../../test/queues.ts'
import { digestIdOf } from '../jobs/delivery-job.ts'

describe('jobs of one channel', () => {
  test('run at most so many at once, in their order', async () => {
    const { queues, names, end } = createQueueHarness({ concurrency: 2 })
    queues.add([job('1', 'a'), job('2', 'a'), job('3', 'a')])
    expect(names()).toEqual(['1', '2'])
    await end('2')
    expect(names()).toEqual(['1', '3'])
    expect(queues.size).toBe(2)
  })

  test('about the same incident run one after the other, and delay no other incident', async () => {
    const { queues, names, end } = createQueueHarness({ concurrency: 2 })
    queues.add([job('1', 'a', { orderingKey: 'x' }), job('2', 'a', { orderingKey: 'x' }), job('3', 'a')])
    expect(names()).toEqual(['1', '3'])
    await end('3')
    expect(names()).toEqual(['1'])
    await end('1')
    expect(names()).toEqual(['2'])
  })

  test('run one at a time while the channel fails, and more again once it works', async () => {
    const { queues, names, end } = createQueueHarness({ concurrency: 2 })
    queues.add([job('1', 'a')])
    await end('1', 'failed')
    queues.add([job('2', 'a'), job('3', 'a'), job('4', 'a')])
    expect(names()).toEqual(['2'])
    await end('2')
    expect(names()).toEqual(['3', '4'])
  })

  test('let urgent jobs skip the queue, one at a time', async () => {
    const { queues, names, end } = createQueueHarness({ concurrency: 1 })
    queues.add([job('1', 'a'), job('2', 'a'), job('t1', 'a', { atOnce: true }), job('t2', 'a', { atOnce: true })])
    expect(names().sort()).toEqual(['1', 't1'])
    await end('t1')
    expect(names().sort()).toEqual(['1', 't2'])
  })
})

describe('jobs of several channels', () => {
  test('take turns if the process has no free slot, so that a long queue delays no other channel', async () => {
    const { queues, names, end } = createQueueHarness({ maxActive: 2, concurrency: 2 })
    queues.add([job('a1', 'a'), job('a2', 'a'), job('a3', 'a'), job('a4', 'a'), job('b1', 'b')])
    expect(names()).toEqual(['a1', 'b1'])
    await end('a1')
    expect(names()).toEqual(['b1', 'a2'])
  })

  test('of which one hangs go on', async () => {
    const { queues, names, end } = createQueueHarness({ concurrency: 1 })
    queues.add([job('dead', 'a'), job('dead2', 'a'), job('b1', 'b'), job('b2', 'b')])
    await end('b1')
    expect(names()).toEqual(['dead', 'b2'])
  })

  test('that fail share half of the places, so that those that work always find one', async () => {
    const { queues, names, end } = createQueueHarness({ maxActive: 4, concurrency: 1 })
    const failing = ['f1', 'f2', 'f3', 'f4']
    queues.add(failing.map(id => job(`${id} first`, id)))
    for (const id of failing) await end(`${id} first`, 'failed')
    queues.add([...failing.map(id => job(id, id)), job('w1', 'w1'), job('w2', 'w2'), job('w3', 'w3')])
    expect(names()).toEqual(['f1', 'f2', 'w1', 'w2'])
    await end('w1')
    expect(names()).toEqual(['f1', 'f2', 'w2', 'w3'])
    await end('f2', 'failed')
    expect(names()).toEqual(['f1', 'w2', 'w3', 'f3'])
    await end('f3', 'worked')
    expect(names()).toEqual(['f1', 'w2', 'w3', 'f4'])
    await end('f4', 'failed')
    queues.add([job('f3 again', 'f3')])
    expect(names()).toEqual(['f1', 'w2', 'w3', 'f3 again'])
  })

  test('that fail are attempted for an urgent job', () => {
    const { queues, names, running } = createQueueHarness({ maxActive: 2, concurrency: 1 })
    queues.add([job('f1 first', 'f1'), job('f2 first', 'f2')])
    for (const { end } of running.splice(0))
      end({ paceSignal: { kind: 'failed', tookMs: 10, atMs: 0 }, channelVersion: 1 })
    return Promise.resolve().then(() => {
      queues.add([job('f1', 'f1'), job('f2', 'f2'), job('t', 'f2', { atOnce: true })])
      expect(names()).toEqual(['f1', 't'])
    })
  })

  test('wait while results cannot be recorded', async () => {
    const { queues, names, close, reopen } = createQueueHarness()
    close()
    queues.add([job('1', 'a')])
    expect(names()).toEqual([])
    reopen()
    queues.startJobs()
    expect(names()).toEqual(['1'])
  })
})

describe('a channel with too much waiting', () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => job(`${index}`, 'a'))

  /** A channel whose last attempt took `ms`, with `waiting` queued jobs. */
  async function withAttemptsOf(ms: number, waiting: number, options: QueueHarnessOptions = {}) {
    const scene = createQueueHarness({ concurrency: 2, maxQueued: 200, ...options })
    scene.queues.add([job('first', 'a'), ...many(waiting + 2)])
    await scene.clock.advance(ms)
    await scene.end('first')
    return scene
  }

  test('makes Kafka wait as long as its receiver is quick, however long its jobs have been here', async () => {
    const { queues } = await withAttemptsOf(40, 200)
    expect(queues.admit('a', 0)).toBe('wait')
    expect(queues.admit('b', 0)).toBe('queue')
    expect(queues.oldestMs()).toBe(40)
  })

  test('postpones messages that would wait longer than the shortest delay line', async () => {
    const { queues } = await withAttemptsOf(100, 100)
    expect(queues.admit('a', 0)).toBe('queue')
    expect(queues.admit('a', 1)).toBe('postpone')
    expect(queues.admit('b', 0)).toBe('queue')
  })

  test('may always have a few waiting', async () => {
    const { queues } = await withAttemptsOf(5_000, 0)
    expect(queues.admit('a', 49)).toBe('queue')
    expect(queues.admit('a', 50)).toBe('postpone')
  })

  test('is waited for while it is this process that is slow', async () => {
    const { queues } = await withAttemptsOf(100, 199, { isOverloaded: true })
    expect(queues.admit('a', 0)).toBe('queue')
    expect(queues.removeDelayedJobs()).toEqual([])
  })

  test('postpones each message behind the earlier ones, counted for five seconds', async () => {
    const { queues, clock } = createQueueHarness()
    const waits = Array.from({ length: 1_201 }, () => queues.nextAttemptInMs('a'))
    expect([waits[0], waits[1], waits[1_200]]).toEqual([0, 50, 60_000])
    expect(queues.nextAttemptInMs('b')).toBe(0)
    await clock.advance(5_000)
    expect(queues.nextAttemptInMs('a')).toBe(0)
  })

  test('postpones messages for the time that its queue takes', async () => {
    const { queues } = await withAttemptsOf(1_000, 100)
    expect(queues.nextAttemptInMs('a')).toBe(50_000)
    expect(queues.nextAttemptInMs('a')).toBe(50_500)
  })

  test('loses its queued jobs to a delay line if an attempt takes longer than a second', async () => {
    const { queues, clock } = createQueueHarness({ concurrency: 1 })
    queues.add([...many(3), job('quick', 'b'), job('quick too', 'b')])
    await clock.advance(999)
    expect(queues.removeDelayedJobs()).toEqual([])
    queues.add([job('later', 'c'), job('later too', 'c')])
    await clock.advance(1)
    expect(queues.removeDelayedJobs().map(one => one.request.delivery_id)).toEqual(['1', '2', 'quick too'])
    expect(queues.size).toBe(4)
  })

  test('postpones messages while its digest waits for the rest of its group, so that Kafka does not wait for it', async () => {
    const { queues, clock } = createQueueHarness({ maxQueued: 60, concurrency: 1, digest: { above: 20, most: 100 } })
    const gathering = { digestGroup: 'quiet', notBeforeMs: clock.now() + 7_000 }
    queues.add(Array.from({ length: 100 }, (_, index) => job(`${index}`, 'a', gathering)))
    expect(queues.admit('a', 0)).toBe('postpone')
    await clock.advance(6_999)
    expect(queues.admit('a', 0)).toBe('postpone')
    await clock.advance(1)
    expect(queues.admit('a', 0)).toBe('queue')
  })

  test('makes Kafka wait again when its digest need not wait any longer', async () => {
    const { queues, clock } = createQueueHarness({ maxQueued: 60, concurrency: 1, digest: { above: 20, most: 10 } })
    const gathering = { digestGroup: 'quiet', notBeforeMs: clock.now() + 7_000 }
    queues.add(Array.from({ length: 70 }, (_, index) => job(`${index}`, 'a', gathering)))
    await clock.advance(7_000)
    expect(queues.admit('a', 0)).toBe('wait')
  })

  test('starts a failed digest when all of it has arrived, and a part of it after the wait', async () => {
    const { queues, clock, names, end } = createQueueHarness({ concurrency: 1, digest: { above: 20, most: 100 } })
    const digestGroup = digestIdOf(['1', '2', '3'].map(id => job(id, 'a')))
    const gathering = { digestGroup, notBeforeMs: clock.now() + 7_000 }
    queues.add([job('3', 'a', gathering), job('1', 'a', gathering)])
    expect([names(), queues.hasOnlyPartOf('a', digestGroup)]).toEqual([[], true])
    queues.add([job('2', 'a', gathering)])
    expect([names(), queues.hasOnlyPartOf('a', digestGroup)]).toEqual([['3+1+2'], false])
    await end('3+1+2')
    queues.add([job('1', 'a', gathering), job('2', 'a', gathering)])
    await clock.advance(6_999)
    expect(names()).toEqual([])
    await clock.advance(1)
    expect(names()).toEqual(['1+2'])
  })

  test('loses its queued jobs to a delay line while its digest waits for the rest of its group', async () => {
    const { queues, clock, names } = createQueueHarness({ concurrency: 1 })
    const gathering = { digestGroup: 'quiet', notBeforeMs: clock.now() + 7_000 }
    queues.add([job('1', 'a', gathering), job('2', 'a', gathering), job('b1', 'b'), job('b2', 'b')])
    expect(queues.removeDelayedJobs().map(one => one.request.delivery_id)).toEqual(['1', '2'])
    expect(queues.size).toBe(2)
    await clock.advance(7_000)
    expect(names()).toEqual(['b1'])
  })

  test('counts messages that are admitted but not queued yet', () => {
    const { queues } = createQueueHarness({ maxQueued: 60 })
    expect(queues.admit('a', 59)).toBe('queue')
    expect(queues.admit('a', 60)).toBe('wait')
  })
})

test('jobs whose partition went elsewhere are dropped; those under way end', async () => {
  const { queues, dropped, names, end } = createQueueHarness({ concurrency: 1 })
  const lost = new AbortController()
  const batch = { signal: lost.signal, complete() {}, abandon() {} } as unknown as Batch
  const messages = () => [{ message: {} as never, batch }]
  queues.add([job('1', 'a', { messages: messages() }), job('2', 'a', { messages: messages() }), job('3', 'a')])
  lost.abort()
  queues.dropLost()
  expect(dropped).toEqual(['2'])
  expect(names()).toEqual(['1'])
  await end('1')
  expect(names()).toEqual(['3'])
})
