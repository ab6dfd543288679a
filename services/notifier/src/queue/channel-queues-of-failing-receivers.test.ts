import { alert } from '@backstop/channels/test'
import { describe, expect, test } from 'vitest'
import { createQueueHarness, job } from '../../test/queues.ts'
import type { DeliveryJob } from '../jobs/delivery-job.ts'

describe('a channel whose receiver fails', () => {
  /** Retries, unless `more` says otherwise. */
  const many = (count: number, from = 0, more: Partial<DeliveryJob> = { firstAttemptAtMs: 1 }) =>
    Array.from({ length: count }, (_, index) => job(`${from + index}`, 'a', more))

  /** A channel whose breaker is open after five failures in a row. */
  async function opened() {
    const scene = createQueueHarness()
    for (const name of ['f1', 'f2', 'f3', 'f4']) {
      scene.queues.add([job(name, 'a')])
      await scene.end(name, 'failed')
    }
    scene.queues.add([job('f5', 'a'), ...many(10)])
    await scene.end('f5', 'failed')
    return scene
  }

  test('is paused after five failures: its waiting and new retries are postponed', async () => {
    const { queues, names, held, pauses, clock } = await opened()
    const nowMs = clock.now()
    expect(pauses).toEqual([{ sinceMs: nowMs, untilMs: nowMs + 5_000, because: 'breaker_open' }])
    expect(names()).toEqual([])
    expect(held).toEqual([{ ids: many(10).map(one => one.request.delivery_id), heldForMs: 5_000 }])
    expect(queues.size).toBe(0)
    expect(queues.admit('a', 0)).toBe('postpone')
    expect(queues.heldForMs('a')).toBe(5_000)
    expect(queues.admit('b', 0)).toBe('queue')
  })

  test('gets one attempt after the pause, and all messages after a success', async () => {
    const { queues, names, clock, end } = await opened()
    await clock.advance(5_000)
    expect(queues.admit('a', 0)).toBe('queue')
    queues.add(many(3))
    expect(names()).toEqual(['0'])
    await end('0')
    expect(names()).toEqual(['1', '2'])
  })

  test('is paused for longer if that attempt fails', async () => {
    const { queues, held, clock, end } = await opened()
    await clock.advance(5_000)
    queues.add(many(3))
    await end('0', 'failed')
    expect(held.at(-1)).toEqual({ ids: ['1', '2'], heldForMs: 10_000 })
  })

  test('postpones messages that were admitted just before the breaker opened', async () => {
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

  test('is not paused after a change, even if attempts of its old version fail', async () => {
    const { queues, names, end } = await opened()
    queues.resetIfChanged('a', 1)
    expect(queues.admit('a', 0)).toBe('postpone')
    queues.resetIfChanged('a', 2)
    queues.add(many(2))
    expect(names()).toEqual(['0', '1'])
    await end('0', 'failed', 2)
    for (const name of ['o1', 'o2', 'o3', 'o4', 'o5']) {
      queues.add([job(name, 'a', { atOnce: true })])
      await end(name, 'failed', 1)
    }
    expect(queues.admit('a', 0)).toBe('queue')
  })

  test('that asks for half a minute is paused for it; a shorter pause is waited for in memory', async () => {
    const { queues, names, held, throttle, clock } = createQueueHarness()
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

  const first = (id: string, second: number) =>
    job(id, 'a', {
      request: {
        ...job(id, 'a').request,
        alert: alert({ id, at: new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString() }),
      },
    })

  test('gets first attempts during its pause, the oldest alert first, one at a time, and no retry between', async () => {
    const { queues, names, held, end } = await opened()
    held.length = 0
    expect(queues.admit('a', 0, 'first')).toBe('queue')
    queues.add([first('new', 30), ...many(1), first('old', 10), first('middle', 20)])
    expect(names()).toEqual(['old'])
    expect(held).toEqual([{ ids: ['0'], heldForMs: 5_000 }])
    await end('old', 'failed')
    expect(names()).toEqual(['middle'])
    await end('middle', 'failed')
    expect(names()).toEqual(['new'])
    await end('new', 'failed')
    expect(queues.heldForMs('a')).toBe(5_000)
  })

  test('gets ten first attempts for each pause: the rest is postponed, and goes before newer alerts', async () => {
    const { queues, names, held, end, clock } = await opened()
    held.length = 0
    queues.add(Array.from({ length: 12 }, (_, index) => first(`n${index}`, index)))
    expect(held).toEqual([{ ids: ['n10', 'n11'], heldForMs: 5_000 }])
    for (let index = 0; index < 10; index++) await end(`n${index}`, 'failed')
    expect(names()).toEqual([])
    expect(queues.admit('a', 0, 'first')).toBe('postpone')
    await clock.advance(5_000)
    queues.add(many(1))
    await end('0', 'failed')
    expect(queues.heldForMs('a')).toBe(10_000)
    expect(queues.admit('a', 0, 'first')).toBe('postpone')
    expect(queues.admit('a', 0, 'held_first')).toBe('queue')
    expect(queues.admit('a', 9, 'held_first')).toBe('queue')
    expect(queues.admit('a', 10, 'held_first')).toBe('postpone')
    // No first attempt was postponed for six seconds, so none waits on the delay line any more.
    await clock.advance(6_001)
    expect(queues.admit('a', 0, 'first')).toBe('queue')
  })

  test('is tried with the first attempt of the oldest alert when its pause ends', async () => {
    const { queues, names, clock } = await opened()
    await clock.advance(5_000)
    queues.add([...many(2), first('new', 30), first('old', 10)])
    expect(names()).toEqual(['old'])
  })

  test('that works again during its pause gets everything that waits', async () => {
    const { queues, names, end } = await opened()
    queues.add([first('x', 1), first('y', 2), first('z', 3)])
    await end('x')
    expect(names()).toEqual(['y', 'z'])
    expect(queues.admit('a', 0, 'retry')).toBe('queue')
  })

  test('that asks for a pause gets no first attempt during it', async () => {
    const { queues, names, held, throttle } = createQueueHarness()
    queues.add([first('x', 1), first('y', 2), first('z', 3)])
    await throttle('x', 30_000)
    expect(names()).toEqual(['y'])
    expect(held).toEqual([{ ids: ['z'], heldForMs: 30_000 }])
    expect(queues.admit('a', 0, 'first')).toBe('postpone')
    expect(queues.admit('a', 0, 'held_first')).toBe('postpone')
  })
})
