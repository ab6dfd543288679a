/** The breaker beside the retry ladder, as docs/channels.md describes both, on the whole notifier in memory. */

import { alert, webhookChannel } from '@backstop/channels/test'
import { describe, expect, test } from 'vitest'
import { createMemoryNotifier, type MemoryNotifier } from './memory-notifier.ts'

const URL_A = 'https://a.example.com/hook'
const URL_B = 'https://b.example.com/hook'
const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** A notifier with two channels. The receiver of `chn_a` answers 500 until `state.works` is true. */
async function startFailing() {
  const notifier = createMemoryNotifier({ partitions: 1 })
  for (const one of [webhookChannel('chn_a', URL_A), webhookChannel('chn_b', URL_B)]) {
    notifier.collections.channels.set(one._id, one)
  }
  const running = await notifier.start()
  await notifier.clock.advance(100)
  const state = { works: false }
  notifier.state.reply = request => (request.url === URL_A && !state.works ? 500 : 200)
  const publish = (count: number, from = 0) => {
    const at = (index: number) => new Date(notifier.clock.now() + index).toISOString()
    return notifier.publish(
      ...Array.from({ length: count }, (_, index) => alert({ id: `alr_${from + index}`, at: at(index) })),
    )
  }
  return { notifier, state, publish, running }
}

const requestsOf = (notifier: MemoryNotifier, url: string) => notifier.requests.filter(request => request.url === url)
const attemptsOf = (notifier: MemoryNotifier, index: number) =>
  notifier.deliveryOf(`alr_${index}`, 'chn_a')?.attempts.length ?? 0
const neverAttempted = (notifier: MemoryNotifier, count: number) =>
  Array.from({ length: count }, (_, index) => index).filter(index => attemptsOf(notifier, index) === 0)

describe('first attempts at a receiver that answers 500', () => {
  test('of eight alerts are made at once', async () => {
    const { notifier, publish } = await startFailing()
    await publish(8)
    await notifier.clock.advance(1_000)
    expect(neverAttempted(notifier, 8)).toEqual([])
    expect(requestsOf(notifier, URL_A)).toHaveLength(8)
  })

  test('of a hundred alerts are made within seven minutes, the oldest first, with at most eleven requests a pause', async () => {
    const { notifier, publish } = await startFailing()
    await publish(100)
    await notifier.clock.advance(7 * MINUTE)
    expect(neverAttempted(notifier, 100)).toEqual([])
    const firsts = Array.from({ length: 100 }, (_, index) =>
      (notifier.deliveryOf(`alr_${index}`, 'chn_a')?.attempts[0]?.at ?? new Date(0)).getTime(),
    )
    expect(firsts.toSorted((a, b) => a - b)).toEqual(firsts)
    const times = requestsOf(notifier, URL_A).map(request => request.atMs)
    const busiest = Math.max(...times.map(at => times.filter(other => other >= at && other < at + MINUTE).length))
    // The first minute has the pauses of 5, 10, 20 and 40 seconds.
    expect(busiest).toBeLessThanOrEqual(60)
    const lastMinute = times.filter(at => at > notifier.clock.now() - MINUTE)
    expect(lastMinute.length).toBeLessThanOrEqual(22)
    expect(requestsOf(notifier, URL_B)).toHaveLength(100)
  })

  test('of alerts that go on to arrive do not wait for ever behind newer ones', async () => {
    const { notifier, publish } = await startFailing()
    for (let minute = 0; minute < 5; minute++) {
      await publish(30, minute * 30)
      await notifier.clock.advance(MINUTE)
    }
    expect(neverAttempted(notifier, 40)).toEqual([])
    await notifier.clock.advance(15 * MINUTE)
    expect(neverAttempted(notifier, 150)).toEqual([])
  })

  test('of a receiver that hangs are made one for each pause, and delay no other channel', async () => {
    const { notifier, publish } = await startFailing()
    notifier.state.reply = request => (request.url === URL_A ? 'hang' : 200)
    await publish(30)
    await notifier.clock.advance(10 * MINUTE)
    expect(requestsOf(notifier, URL_B)).toHaveLength(30)
    const requests = requestsOf(notifier, URL_A).length
    expect(requests).toBeGreaterThan(8)
    expect(requests).toBeLessThan(20)
  })
})

test('eight alerts are attempted as in the example of docs/channels.md', async () => {
  const { notifier, publish, state } = await startFailing()
  const startedAtMs = notifier.clock.now()
  await publish(8)
  await notifier.clock.advance(8_000)
  state.works = true
  await notifier.clock.advance(MINUTE)
  const seconds = requestsOf(notifier, URL_A).map(request => Math.floor((request.atMs - startedAtMs) / 1_000))
  expect(seconds).toEqual([...Array(8).fill(0), 5, ...Array(8).fill(15)])
  for (let index = 0; index < 8; index++) {
    expect(notifier.deliveryOf(`alr_${index}`, 'chn_a')?.state).toBe('delivered')
  }
})

describe('a paused channel', () => {
  test('is recorded with the end of its pause and the reason, until an attempt succeeds', async () => {
    const { notifier, publish, state } = await startFailing()
    await publish(8)
    const startedAtMs = notifier.clock.now()
    await notifier.clock.advance(1_000)
    const { held } = notifier.collections.channelHealth.get('chn_a') ?? {}
    expect(held).toMatchObject({ reason: 'failing' })
    expect((held?.until.getTime() ?? 0) - startedAtMs).toBe(5_000)
    expect(notifier.collections.channelHealth.get('chn_b')?.held).toBeUndefined()
    state.works = true
    await notifier.clock.advance(MINUTE)
    expect(notifier.collections.channelHealth.get('chn_a')?.held).toBeUndefined()
  })

  test('is recorded when the database is available again', async () => {
    const { notifier, publish } = await startFailing()
    await publish(4)
    await notifier.clock.advance(1_000)
    await publish(4, 4)
    notifier.state.database = 'away'
    await notifier.clock.advance(500)
    notifier.state.database = 'up'
    await notifier.clock.advance(10_000)
    expect(notifier.collections.channelHealth.get('chn_a')?.held).toMatchObject({ reason: 'failing' })
    expect(notifier.fatal).toEqual([])
  })

  test('gets everything that waits when one attempt succeeds, each alert once', async () => {
    const { notifier, publish, state } = await startFailing()
    await publish(150)
    await notifier.clock.advance(20 * MINUTE)
    expect(neverAttempted(notifier, 150)).toEqual([])
    state.works = true
    const before = requestsOf(notifier, URL_A).length
    const states = () =>
      Array.from({ length: 150 }, (_, index) => notifier.deliveryOf(`alr_${index}`, 'chn_a')?.state).filter(
        one => one === 'delivered',
      ).length
    let firstMs: number | undefined
    let allMs: number | undefined
    for (let at = 0; at < 120_000 && allMs === undefined; at += 50) {
      await notifier.clock.advance(50)
      const delivered = states()
      if (delivered > 0) firstMs ??= notifier.clock.now()
      if (delivered === 150) allMs = notifier.clock.now()
    }
    expect((allMs ?? Number.POSITIVE_INFINITY) - (firstMs ?? 0)).toBeLessThanOrEqual(3_000)
    await notifier.clock.advance(12 * HOUR)
    expect(requestsOf(notifier, URL_A).length - before).toBe(150)
    expect(notifier.fatal).toEqual([])
  })

  test('gets everything that waits from the next process, too, when the first was killed', async () => {
    const { notifier, publish, state, running } = await startFailing()
    await publish(30)
    await notifier.clock.advance(2 * HOUR)
    running.kill()
    state.works = true
    await notifier.start()
    await publish(1, 30)
    await notifier.clock.advance(20_000)
    const open = Array.from({ length: 31 }, (_, index) => notifier.deliveryOf(`alr_${index}`, 'chn_a')?.state).filter(
      one => one !== 'delivered',
    )
    expect(open).toEqual([])
  })

  test('gets everything that waits when a person changes it', async () => {
    const { notifier, publish } = await startFailing()
    await publish(30)
    await notifier.clock.advance(2 * HOUR)
    const channel = notifier.collections.channels.get('chn_a')
    if (channel === undefined) throw new Error('no channel')
    const config = { ...channel.config, url: 'https://new.example.com/hook' } as typeof channel.config
    notifier.collections.channels.set('chn_a', { ...channel, config, version: channel.version + 1 })
    await notifier.clock.advance(3_000)
    await publish(1, 30)
    await notifier.clock.advance(20_000)
    expect(requestsOf(notifier, 'https://new.example.com/hook')).toHaveLength(31)
  })

  test('that accepts some messages only does not get the others more than once a minute', async () => {
    const { notifier, publish } = await startFailing()
    notifier.state.reply = ({ url, body }) => (url === URL_A && /alr_[0-7]"/.test(String(body)) ? 500 : 200)
    await publish(8)
    for (let second = 0; second < 600; second += 2) {
      await publish(1, 100 + second)
      await notifier.clock.advance(2_000)
    }
    for (let index = 0; index < 8; index++) expect(attemptsOf(notifier, index)).toBeLessThanOrEqual(15)
    expect(notifier.deliveryOf('alr_698', 'chn_a')?.state).toBe('delivered')
  })
})
