import { describe, expect, test } from 'vitest'
import { createQueueHarness, job } from '../../test/queues.ts'

describe('a channel whose receiver fails', () => {
  const many = (count: number, from = 0) => Array.from({ length: count }, (_, index) => job(`${from + index}`, 'a'))

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

  test('is paused after five failures: its waiting and new messages are postponed', async () => {
    const { queues, names, held } = await opened()
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
})
