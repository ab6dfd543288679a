import type { Batch } from '@backstop/kit'
import { createManualClock } from '@backstop/kit/test'
import { describe, expect, test } from 'vitest'
import { alert } from '../../test/fixtures.ts'
import type { ChannelLimits } from './channel-lane.ts'
import type { Shown } from './channel-paces.ts'
import { ChannelQueues } from './channel-queues.ts'
import type { DeliveryJob } from './delivery-job.ts'

interface Harness extends Partial<ChannelLimits> {
  maxActive?: number
  maxQueued?: number
  isOverloaded?: boolean
}

function harness(options: Harness = {}) {
  const clock = createManualClock()
  const running: { jobs: readonly DeliveryJob[]; end: (shown: Shown | undefined) => void }[] = []
  const dropped: string[] = []
  const held: { ids: string[]; heldForMs: number }[] = []
  let open = true
  const queues = new ChannelQueues({
    clock,
    maxActive: options.maxActive ?? 100,
    maxQueuedPerChannel: options.maxQueued ?? 100,
    limitsOf: () => ({
      concurrency: options.concurrency ?? 2,
      intervalMs: options.intervalMs ?? 0,
      digest: options.digest ?? null,
    }),
    isOverloaded: () => options.isOverloaded ?? false,
    mayStart: () => open,
    run: jobs => new Promise(end => running.push({ jobs, end })),
    onDropped: job => dropped.push(job.request.delivery_id),
    onHeld: (jobs, heldForMs) => held.push({ ids: jobs.map(one => one.request.delivery_id), heldForMs }),
  })
  /** What runs: a digest by the names of its jobs, joined. */
  const names = () => running.map(({ jobs }) => jobs.map(one => one.request.delivery_id).join('+'))
  const end = async (name: string, kind: 'worked' | 'failed' | 'nothing' = 'worked', channelVersion = 1) => {
    const index = names().indexOf(name)
    running
      .splice(index, 1)[0]
      ?.end(kind === 'nothing' ? undefined : { sign: { kind, atMs: clock.now() }, channelVersion })
    await clock.settle()
  }
  const throttle = async (name: string, retryAfterMs: number | null) => {
    const index = names().indexOf(name)
    running
      .splice(index, 1)[0]
      ?.end({ sign: { kind: 'throttled', atMs: clock.now(), retryAfterMs }, channelVersion: 1 })
    await clock.settle()
  }
  const gate = { close: () => (open = false), reopen: () => (open = true) }
  return { clock, queues, running, dropped, held, names, end, throttle, ...gate }
}

const owned = new AbortController()
function job(id: string, channelId: string, more: Partial<DeliveryJob> = {}): DeliveryJob {
  const batch = { signal: owned.signal, complete() {}, abandon() {} } as unknown as Batch
  const request = {
    delivery_id: id,
    channel_id: channelId,
    project_id: 'prj_test',
    attempt: 1,
    test: false,
    alert: alert({ id }),
  }
  return {
    request,
    channelKind: 'webhook',
    orderingKey: id,
    firstAttemptAtMs: null,
    ladderFromAttempt: 1,
    isKnown: false,
    atOnce: false,
    goesAlone: false,
    paceTarget: `where ${channelId} posts to`,
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
    await end('1', 'failed')
    queues.add([job('2', 'a'), job('3', 'a'), job('4', 'a')])
    expect(names()).toEqual(['2'])
    await end('2')
    expect(names()).toEqual(['3', '4'])
  })

  test('let what is wanted at once pass by, one at a time', async () => {
    const { queues, names, end } = harness({ concurrency: 1 })
    queues.add([job('1', 'a'), job('2', 'a'), job('t1', 'a', { atOnce: true }), job('t2', 'a', { atOnce: true })])
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

  test('that fail are attempted all the same when somebody wants it at once', () => {
    const { queues, names, running } = harness({ maxActive: 2, concurrency: 1 })
    queues.add([job('f1 first', 'f1'), job('f2 first', 'f2')])
    for (const { end } of running.splice(0)) end({ sign: { kind: 'failed', atMs: 0 }, channelVersion: 1 })
    return Promise.resolve().then(() => {
      queues.add([job('f1', 'f1'), job('f2', 'f2'), job('t', 'f2', { atOnce: true })])
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
  const many = (count: number) => Array.from({ length: count }, (_, index) => job(`${index}`, 'a'))

  /** One whose last attempt took so long, and with so many waiting. */
  async function withAttemptsOf(ms: number, waiting: number, options: Harness = {}) {
    const scene = harness({ concurrency: 2, maxQueued: 200, ...options })
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

  test('has its messages put off once they would wait for longer than the shortest delay line takes', async () => {
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
    expect(queues.takeSlow()).toEqual([])
  })

  test('has each message that is put off wait behind those before it, anew every five seconds', async () => {
    const { queues, clock } = harness()
    const away = Array.from({ length: 1_201 }, () => queues.awayForMs('a'))
    expect([away[0], away[1], away[1_200]]).toEqual([0, 50, 60_000])
    expect(queues.awayForMs('b')).toBe(0)
    await clock.advance(5_000)
    expect(queues.awayForMs('a')).toBe(0)
  })

  test('has what is put off wait for as long as its receiver takes for what is here', async () => {
    const { queues } = await withAttemptsOf(1_000, 100)
    expect(queues.awayForMs('a')).toBe(50_000)
    expect(queues.awayForMs('a')).toBe(50_500)
  })

  test('gives its room away when one attempt takes a second, and keeps it else', async () => {
    const { queues, clock } = harness({ concurrency: 1 })
    queues.add([...many(3), job('quick', 'b'), job('quick too', 'b')])
    await clock.advance(999)
    expect(queues.takeSlow()).toEqual([])
    queues.add([job('later', 'c'), job('later too', 'c')])
    await clock.advance(1)
    expect(queues.takeSlow().map(one => one.request.delivery_id)).toEqual(['1', '2', 'quick too'])
    expect(queues.size).toBe(4)
  })

  test('counts what is admitted but not queued yet', () => {
    const { queues } = harness({ maxQueued: 60 })
    expect(queues.admit('a', 59)).toBe('queue')
    expect(queues.admit('a', 60)).toBe('wait')
  })
})

describe('a channel whose receiver fails', () => {
  const many = (count: number, from = 0) => Array.from({ length: count }, (_, index) => job(`${from + index}`, 'a'))

  /** Five failures in a row open the breaker. */
  async function opened() {
    const scene = harness()
    for (const name of ['f1', 'f2', 'f3', 'f4']) {
      scene.queues.add([job(name, 'a')])
      await scene.end(name, 'failed')
    }
    scene.queues.add([job('f5', 'a'), ...many(10)])
    await scene.end('f5', 'failed')
    return scene
  }

  test('is left alone after five failures: what waits is sent away, and what comes is put off', async () => {
    const { queues, names, held } = await opened()
    expect(names()).toEqual([])
    expect(held).toEqual([{ ids: many(10).map(one => one.request.delivery_id), heldForMs: 5_000 }])
    expect(queues.size).toBe(0)
    expect(queues.admit('a', 0)).toBe('postpone')
    expect(queues.heldForMs('a')).toBe(5_000)
    expect(queues.admit('b', 0)).toBe('queue')
  })

  test('is tried with one attempt after the pause, and gets all again once it works', async () => {
    const { queues, names, clock, end } = await opened()
    await clock.advance(5_000)
    expect(queues.admit('a', 0)).toBe('queue')
    queues.add(many(3))
    expect(names()).toEqual(['0'])
    await end('0')
    expect(names()).toEqual(['1', '2'])
  })

  test('is left alone for longer when that attempt fails', async () => {
    const { queues, held, clock, end } = await opened()
    await clock.advance(5_000)
    queues.add(many(3))
    await end('0', 'failed')
    expect(held.at(-1)).toEqual({ ids: ['1', '2'], heldForMs: 10_000 })
  })

  test('is sent away what was admitted just before the breaker opened', async () => {
    const { queues, names, held } = await opened()
    queues.add(many(2, 50))
    expect(names()).toEqual([])
    expect(held.at(-1)?.ids).toEqual(['50', '51'])
  })

  test('is attempted when somebody wants it at once: what shows nothing changes nothing, what arrives frees the rest', async () => {
    const { queues, names, end } = await opened()
    queues.add([job('t', 'a', { atOnce: true }), job('r', 'a', { atOnce: true })])
    expect(names()).toEqual(['t'])
    await end('t', 'nothing')
    expect(queues.admit('a', 0)).toBe('postpone')
    await end('r')
    expect(queues.admit('a', 0)).toBe('queue')
  })

  test('is left alone no longer once it is changed, whatever its old version still shows', async () => {
    const { queues, names, end } = await opened()
    queues.noteVersion('a', 1)
    expect(queues.admit('a', 0)).toBe('postpone')
    queues.noteVersion('a', 2)
    queues.add(many(2))
    expect(names()).toEqual(['0', '1'])
    await end('0', 'failed', 2)
    for (const name of ['o1', 'o2', 'o3', 'o4', 'o5']) {
      queues.add([job(name, 'a', { atOnce: true })])
      await end(name, 'failed', 1)
    }
    expect(queues.admit('a', 0)).toBe('queue')
  })

  test('that asks for half a minute gets it; a shorter pause is waited for here', async () => {
    const { queues, names, held, throttle, clock } = harness()
    queues.add(many(3))
    await throttle('0', 500)
    await throttle('1', 300)
    expect(held).toEqual([])
    expect(names()).toEqual([])
    await clock.advance(500)
    expect(names()).toEqual(['2'])
    queues.add(many(1, 9))
    await throttle('2', 30_000)
    expect(held).toEqual([{ ids: ['9'], heldForMs: 30_000 }])
  })
})

describe('a channel that takes one message a second', () => {
  const limits = { concurrency: 1, intervalMs: 1_000, digest: { above: 3, most: 5 } }

  test('gets the next one a second after the last ended', async () => {
    const { queues, names, clock, end } = harness(limits)
    queues.add([job('1', 'a'), job('2', 'a'), job('3', 'b')])
    expect(names()).toEqual(['1', '3'])
    await clock.advance(300)
    await end('1')
    await clock.advance(999)
    expect(names()).toEqual(['3'])
    await clock.advance(1)
    expect(names()).toEqual(['3', '2'])
  })

  test('shares its pace with the channels that post to the same place', async () => {
    const { queues, names, clock, end } = harness(limits)
    const paceTarget = 'the same place'
    queues.add([job('1', 'a', { paceTarget }), job('2', 'b', { paceTarget }), job('3', 'c')])
    expect(names()).toEqual(['1', '3'])
    await end('1')
    queues.add([job('4', 'a', { paceTarget })])
    await clock.advance(1_000)
    expect(names()).toEqual(['3', '2'])
    await end('2')
    await clock.advance(1_000)
    expect(names()).toEqual(['3', '4'])
  })

  test('keeps its pace for what is wanted at once, which comes first', async () => {
    const { queues, names, clock, end } = harness(limits)
    queues.add([job('1', 'a')])
    queues.add([job('2', 'a'), job('now', 'a', { atOnce: true })])
    await end('1')
    expect(names()).toEqual([])
    await clock.advance(1_000)
    expect(names()).toEqual(['now'])
    await end('now')
    await clock.advance(1_000)
    expect(names()).toEqual(['2'])
  })

  test('wants about one incident one after the other, at once or not', async () => {
    const { queues, names, end } = harness()
    queues.add([job('1', 'a', { orderingKey: 'x' })])
    queues.add([job('now', 'a', { orderingKey: 'x', atOnce: true })])
    expect(names()).toEqual(['1'])
    await end('1')
    expect(names()).toEqual(['now'])
  })

  test('gets what was refused in a digest one by one, in its order, and the rest as before', async () => {
    const { queues, names, clock, end } = harness(limits)
    const alone = { goesAlone: true }
    const names8 = ['1', '2', '3', '4', '5', '6', '7', '8']
    queues.add(names8.map(name => job(name, 'a', name === '3' || name === '4' ? alone : {})))
    for (const expected of ['1+2', '3', '4', '5+6+7+8']) {
      expect(names()).toEqual([expected])
      await end(expected)
      await clock.advance(1_000)
    }
  })

  test('has put off, beyond a few, what was refused in a digest, which goes one by one', () => {
    const { queues } = harness({ ...limits, digest: { above: 20, most: 100 }, maxQueued: 1_000 })
    const many = (channelId: string, goesAlone: boolean) =>
      Array.from({ length: 200 }, (_, index) => job(`${index}`, channelId, { goesAlone }))
    queues.add([...many('refused', true), ...many('told', false)])
    expect(queues.admit('refused', 0)).toBe('postpone')
    expect(queues.admit('told', 0)).toBe('queue')
  })

  test('has its messages put off the sooner, the more channels with work post to the same place', async () => {
    const { queues, dropped } = harness({ ...limits, digest: { above: 20, most: 100 }, maxQueued: 1_000 })
    const lost = new AbortController()
    const batch = { signal: lost.signal, complete() {}, abandon() {} } as unknown as Batch
    const messages = () => [{ message: {} as never, batch }]
    const many = (channelId: string, more: Partial<DeliveryJob>) =>
      Array.from({ length: 200 }, (_, index) => job(`${index}`, channelId, more))
    const shared = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
    queues.add(many('a', { paceTarget: 'shared' }))
    queues.add(many('other', {}))
    expect(queues.admit('a', 100)).toBe('queue')
    for (const id of shared.slice(1)) queues.add(many(id, { paceTarget: 'shared', messages: messages() }))
    expect(shared.map(id => queues.admit(id, 0))).toEqual(shared.map(() => 'postpone'))
    expect(queues.admit('other', 0)).toBe('queue')
    expect(queues.awayForMs('a')).toBe(7_000)
    lost.abort()
    queues.dropLost()
    expect(dropped).toHaveLength(6 * 200)
    expect(queues.admit('a', 0)).toBe('queue')
  })

  test('has its messages put off once its queue is full: none of its turns is waited for', () => {
    const { queues } = harness({ ...limits, digest: { above: 20, most: 100 }, maxQueued: 100 })
    const many = (count: number) => Array.from({ length: count }, (_, i) => job(`${i}`, 'a', { paceTarget: 'a place' }))
    queues.add(many(150))
    expect(queues.admit('a', 0)).toBe('queue')
    queues.add(many(60))
    expect(queues.admit('a', 0)).toBe('postpone')
  })

  test('gets a flood as digests, in its order and to its end', async () => {
    const { queues, names, clock, end } = harness(limits)
    queues.add(['1', '2', '3', '4', '5', '6', '7', '8'].map(name => job(name, 'a')))
    expect(names()).toEqual(['1+2+3+4+5'])
    expect(queues.size).toBe(8)
    await end('1+2+3+4+5')
    expect(queues.size).toBe(3)
    await clock.advance(1_000)
    expect(names()).toEqual(['6+7+8'])
    queues.add([job('9', 'a')])
    await end('6+7+8')
    await clock.advance(1_000)
    expect(names()).toEqual(['9'])
    queues.add([job('10', 'a'), job('11', 'a')])
    await end('9')
    await clock.advance(1_000)
    expect(names()).toEqual(['10'])
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
