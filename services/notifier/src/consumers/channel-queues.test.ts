import type { Batch } from '@backstop/kit'
import { createManualClock } from '@backstop/kit/test'
import { describe, expect, test } from 'vitest'
import { alert } from '../../test/fixtures.ts'
import { ChannelQueues } from './channel-queues.ts'
import type { DeliveryJob } from './delivery-job.ts'

function harness(options: { maxActive?: number; maxQueued?: number; concurrency?: number } = {}) {
  const clock = createManualClock()
  const running: { job: DeliveryJob; end: (works: boolean) => void }[] = []
  const dropped: string[] = []
  let open = true
  const queues = new ChannelQueues({
    clock,
    maxActive: options.maxActive ?? 100,
    maxQueuedPerChannel: options.maxQueued ?? 100,
    concurrencyOf: () => options.concurrency ?? 2,
    mayStart: () => open,
    run: job => new Promise(end => running.push({ job, end })),
    onDropped: job => dropped.push(job.request.delivery_id),
  })
  const names = () => running.map(({ job }) => job.request.delivery_id)
  const end = async (name: string, works = true) => {
    const index = running.findIndex(({ job }) => job.request.delivery_id === name)
    running.splice(index, 1)[0]?.end(works)
    await clock.settle()
  }
  return { clock, queues, running, dropped, names, end, close: () => (open = false), reopen: () => (open = true) }
}

const owned = new AbortController()
function job(id: string, channelId: string, more: Partial<DeliveryJob> & { test?: boolean } = {}): DeliveryJob {
  const batch = { signal: owned.signal, complete() {}, abandon() {} } as unknown as Batch
  const request = {
    delivery_id: id,
    channel_id: channelId,
    project_id: 'prj_test',
    attempt: 1,
    test: more.test ?? false,
    alert: alert({ id }),
  }
  return {
    request,
    channelKind: 'webhook',
    orderingKey: id,
    firstAttemptAtMs: null,
    receivedAtMs: Date.UTC(2026, 0, 1),
    messages: [{ message: {} as never, batch }],
    ...more,
  }
}

describe('jobs of one channel', () => {
  test('run at most so many at once, in their order', async () => {
    const { queues, names, end } = harness({ concurrency: 2 })
    queues.add([job('1', 'a'), job('2', 'a'), job('3', 'a')])
    expect(names()).toEqual(['1', '2'])
    await end('2')
    expect(names()).toEqual(['1', '3'])
    expect(queues.size).toBe(2)
  })

  test('about the same incident run one after the other, and hold up no other incident', async () => {
    const { queues, names, end } = harness({ concurrency: 2 })
    queues.add([job('1', 'a', { orderingKey: 'x' }), job('2', 'a', { orderingKey: 'x' }), job('3', 'a')])
    expect(names()).toEqual(['1', '3'])
    await end('3')
    expect(names()).toEqual(['1'])
    await end('1')
    expect(names()).toEqual(['2'])
  })

  test('run one at a time while the channel fails, and more again once it works', async () => {
    const { queues, names, end } = harness({ concurrency: 2 })
    queues.add([job('1', 'a')])
    await end('1', false)
    queues.add([job('2', 'a'), job('3', 'a'), job('4', 'a')])
    expect(names()).toEqual(['2'])
    await end('2', true)
    expect(names()).toEqual(['3', '4'])
  })

  test('let a test pass by, one at a time', async () => {
    const { queues, names, end } = harness({ concurrency: 1 })
    queues.add([job('1', 'a'), job('2', 'a'), job('t1', 'a', { test: true }), job('t2', 'a', { test: true })])
    expect(names().sort()).toEqual(['1', 't1'])
    await end('t1')
    expect(names().sort()).toEqual(['1', 't2'])
  })
})

describe('jobs of several channels', () => {
  test('take turns when the process is full, so that a long queue starves nobody', async () => {
    const { queues, names, end } = harness({ maxActive: 2, concurrency: 2 })
    queues.add([job('a1', 'a'), job('a2', 'a'), job('a3', 'a'), job('a4', 'a'), job('b1', 'b')])
    expect(names()).toEqual(['a1', 'b1'])
    await end('a1')
    expect(names()).toEqual(['b1', 'a2'])
  })

  test('of which one hangs go on', async () => {
    const { queues, names, end } = harness({ concurrency: 1 })
    queues.add([job('dead', 'a'), job('dead2', 'a'), job('b1', 'b'), job('b2', 'b')])
    await end('b1')
    expect(names()).toEqual(['dead', 'b2'])
  })

  test('that fail share half of the places, so that those that work always find one', async () => {
    const { queues, names, end } = harness({ maxActive: 4, concurrency: 1 })
    const failing = ['f1', 'f2', 'f3', 'f4']
    queues.add(failing.map(id => job(`${id} first`, id)))
    for (const id of failing) await end(`${id} first`, false)
    queues.add([...failing.map(id => job(id, id)), job('w1', 'w1'), job('w2', 'w2'), job('w3', 'w3')])
    expect(names()).toEqual(['f1', 'f2', 'w1', 'w2'])
    await end('w1')
    expect(names()).toEqual(['f1', 'f2', 'w2', 'w3'])
    await end('f2', false)
    expect(names()).toEqual(['f1', 'w2', 'w3', 'f3'])
    await end('f3', true)
    expect(names()).toEqual(['f1', 'w2', 'w3', 'f4'])
    await end('f4', false)
    queues.add([job('f3 again', 'f3')])
    expect(names()).toEqual(['f1', 'w2', 'w3', 'f3 again'])
  })

  test('that fail are tested all the same', () => {
    const { queues, names, running } = harness({ maxActive: 2, concurrency: 1 })
    queues.add([job('f1 first', 'f1'), job('f2 first', 'f2')])
    for (const { end } of running.splice(0)) end(false)
    return Promise.resolve().then(() => {
      queues.add([job('f1', 'f1'), job('f2', 'f2'), job('t', 'f2', { test: true })])
      expect(names()).toEqual(['f1', 't'])
    })
  })

  test('wait while results cannot be recorded', async () => {
    const { queues, names, close, reopen } = harness()
    close()
    queues.add([job('1', 'a')])
    expect(names()).toEqual([])
    reopen()
    queues.pump()
    expect(names()).toEqual(['1'])
  })
})

describe('a channel with too much waiting', () => {
  test('makes Kafka wait as long as it is quick, and has its messages put off once it is slow', async () => {
    const { queues, clock } = harness({ concurrency: 1, maxQueued: 60 })
    queues.add(Array.from({ length: 61 }, (_, index) => job(`${index}`, 'a')))
    expect(queues.admit('a', 0)).toBe('wait')
    expect(queues.admit('b', 0)).toBe('queue')
    await clock.advance(1_001)
    expect(queues.admit('a', 0)).toBe('postpone')
    const receivedAtMs = clock.now()
    queues.add([job('quick', 'b', { receivedAtMs }), job('quick too', 'b', { receivedAtMs })])
    expect(queues.takeSlow().map(one => one.request.channel_id)).toEqual(Array(60).fill('a'))
    expect(queues.size).toBe(3)
    expect(queues.oldestMs()).toBe(1_001)
  })

  test('counts what is admitted but not queued yet', () => {
    const { queues } = harness({ maxQueued: 60 })
    expect(queues.admit('a', 59)).toBe('queue')
    expect(queues.admit('a', 60)).toBe('wait')
  })
})

test('jobs whose partition went elsewhere are dropped; those under way end', async () => {
  const { queues, dropped, names, end } = harness({ concurrency: 1 })
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
