import type { Batch } from '@backstop/kit/bus'
import { describe, expect, test } from 'vitest'
import { createQueueHarness, job } from '../../test/queues.ts'
import type { DeliveryJob } from '../jobs/delivery-job.ts'

describe('a channel that takes one message a second', () => {
  const limits = { concurrency: 1, intervalMs: 1_000, digest: { above: 3, most: 5 } }

  test('gets the next one a second after the last ended', async () => {
    const { queues, names, clock, end } = createQueueHarness(limits)
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
    const { queues, names, clock, end } = createQueueHarness(limits)
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

  test('keeps its interval for urgent jobs, which come first', async () => {
    const { queues, names, clock, end } = createQueueHarness(limits)
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

  test('gets the messages of one incident one after the other, urgent or not', async () => {
    const { queues, names, end } = createQueueHarness()
    queues.add([job('1', 'a', { orderingKey: 'x' })])
    queues.add([job('now', 'a', { orderingKey: 'x', atOnce: true })])
    expect(names()).toEqual(['1'])
    await end('1')
    expect(names()).toEqual(['now'])
  })

  test('gets messages that were refused in a digest one by one, in order', async () => {
    const { queues, names, clock, end } = createQueueHarness(limits)
    const alone = { goesAlone: true }
    const names8 = ['1', '2', '3', '4', '5', '6', '7', '8']
    queues.add(names8.map(name => job(name, 'a', name === '3' || name === '4' ? alone : {})))
    for (const expected of ['1+2', '3', '4', '5+6+7+8']) {
      expect(names()).toEqual([expected])
      await end(expected)
      await clock.advance(1_000)
    }
  })

  test('gets a digest that must be repeated again with the same messages, however few they are', async () => {
    const { queues, names, end, clock } = createQueueHarness(limits)
    const inGroup = (name: string) => job(name, 'a', { digestGroup: 'dlv_digest' })
    queues.add([inGroup('1'), inGroup('2'), job('3', 'a')])
    expect(names()).toEqual(['1+2'])
    await end('1+2')
    await clock.advance(1_000)
    expect(names()).toEqual(['3'])
  })

  test('gets no digest of messages whose addresses ended in different attempts', () => {
    const { queues, names } = createQueueHarness(limits)
    const ended = (name: string, ...tags: string[]) =>
      job(name, 'a', { endedAddresses: tags.map(tag => ({ tag, end: 'taken' as const, attempt: 1 })) })
    queues.add([ended('1', 'x'), ended('2'), ended('3', 'x'), ended('4', 'y')])
    expect(names()).toEqual(['1+3'])
  })

  test('postpones messages that were refused in a digest, except a few', () => {
    const { queues } = createQueueHarness({ ...limits, digest: { above: 20, most: 100 }, maxQueued: 1_000 })
    const many = (channelId: string, goesAlone: boolean) =>
      Array.from({ length: 200 }, (_, index) => job(`${index}`, channelId, { goesAlone }))
    queues.add([...many('refused', true), ...many('told', false)])
    expect(queues.admit('refused', 0)).toBe('postpone')
    expect(queues.admit('told', 0)).toBe('queue')
  })

  test('postpones messages sooner, the more channels share its target', async () => {
    const { queues, dropped } = createQueueHarness({ ...limits, digest: { above: 20, most: 100 }, maxQueued: 1_000 })
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
    expect(queues.nextAttemptInMs('a')).toBe(7_000)
    lost.abort()
    queues.dropLost()
    expect(dropped).toHaveLength(6 * 200)
    expect(queues.admit('a', 0)).toBe('queue')
  })

  test('postpones messages when its queue is full', () => {
    const { queues } = createQueueHarness({ ...limits, digest: { above: 20, most: 100 }, maxQueued: 100 })
    const many = (count: number) => Array.from({ length: count }, (_, i) => job(`${i}`, 'a', { paceTarget: 'a place' }))
    queues.add(many(150))
    expect(queues.admit('a', 0)).toBe('queue')
    queues.add(many(60))
    expect(queues.admit('a', 0)).toBe('postpone')
  })

  test('gets a flood as digests, in its order and to its end', async () => {
    const { queues, names, clock, end } = createQueueHarness(limits)
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
