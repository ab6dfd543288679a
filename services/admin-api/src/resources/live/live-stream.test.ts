import { Writable } from 'node:stream'
import { AppError } from '@backstop/kit/errors'
import { createLogger } from '@backstop/kit/logger'
import { createMetrics } from '@backstop/kit/ops'
import { createManualClock } from '@backstop/kit/test'
import { describe, expect, test } from 'vitest'
import { createMemoryChangeFeed, type MemoryChangeFeed } from '../../../test/memory-change-feed.ts'
import type { ChangeFeed, StoredChange } from '../../store/change-feed.ts'
import type { LiveEvent } from './live-events.ts'
import { LiveHub } from './live-hub.ts'
import { createLiveMetrics, LiveStream } from './live-stream.ts'
import { createSlots, type Slots } from './slots.ts'

const clock = createManualClock()
const logger = createLogger('test', 'silent')

/** A stream over changes in memory. Each event has `bytes` bytes of data. */
function openStream({
  bytes = 10,
  after,
  isReading = true,
  feed: given,
  takeSlot = createSlots(1),
}: StreamOptions = {}) {
  const feed = createMemoryChangeFeed()
  const readEvents = async (changes: readonly StoredChange[]): Promise<LiveEvent[]> =>
    changes.map(({ position, id }) => ({ position, type: 'action', projectId: 'p', data: id.padEnd(bytes, '.') }))
  const stopping = new AbortController()
  const used = given?.(feed) ?? feed
  const hub = new LiveHub({ feed: used, readEvents, clock, logger, stopping: stopping.signal })
  let text = ''
  const out = new Writable({
    write(chunk, _encoding, done) {
      text += chunk
      if (isReading) done()
    },
  })
  let refusal: AppError | undefined
  const metrics = createMetrics('admin-api')
  const parts = { hub, feed: used, readEvents, clock, logger, metrics: createLiveMetrics(metrics), takeSlot }
  const client = {
    principalId: 'key_1',
    after,
    signal: stopping.signal,
    async authorize() {
      if (refusal !== undefined) throw refusal
      return undefined
    },
  }
  const ended = new LiveStream(parts, client, out).run()
  return {
    feed,
    out,
    ended,
    text: () => text,
    /** The metrics of live streams, without labels that all of them have. */
    async metrics() {
      const lines = (await metrics.text()).replaceAll(/,?service="admin-api"/g, '').split('\n')
      return lines.filter(line => line.startsWith('live_')).map(line => line.replace('{}', ''))
    },
    refuse: (error: AppError | undefined) => {
      refusal = error
    },
    /** Lets the loop that reads changes run; it pauses in real time. */
    async until(isReached: () => boolean) {
      while (!isReached()) {
        await new Promise(resolve => setTimeout(resolve, 5))
        await clock.advance(20)
      }
    },
    async stop() {
      stopping.abort()
      await clock.advance(10_000)
      await ended
    },
  }
}
interface StreamOptions {
  readonly bytes?: number
  readonly after?: string
  readonly isReading?: boolean
  /** Changes the feed. */
  readonly feed?: (feed: MemoryChangeFeed) => ChangeFeed
  readonly takeSlot?: Slots
}

/** A feed with one missed change after position 0, which is never read. */
function withSlowHistory(feed: MemoryChangeFeed): ChangeFeed {
  feed.note('actions', 'act_missed')
  return {
    async open(after) {
      const cursor = await feed.open(after)
      if (after !== START) return cursor
      return { position: after, next: () => new Promise(() => {}), close: () => cursor.close() }
    },
  }
}
const START = '000000000000'

async function pass(seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    await clock.advance(1_000)
    await new Promise(resolve => setImmediate(resolve))
  }
}

test('metrics count open, resumed, reset and cut streams', async () => {
  const stream = openStream()
  await stream.until(() => stream.text().includes(': heartbeat'))
  const first = ['live_streams_open 1', 'live_streams_total{resumed="false"} 1', 'live_resets_total 0']
  expect(await stream.metrics()).toEqual(first)
  stream.feed.note('actions', 'act_1')
  stream.feed.forget()
  await stream.until(() => stream.text().includes('event: reset'))
  expect(await stream.metrics()).toContain('live_resets_total 1')
  await stream.stop()
  expect(await stream.metrics()).toContain('live_streams_open 0')

  const slow = openStream({ after: START, bytes: 100_000, isReading: false })
  await slow.until(() => slow.text() !== '')
  for (let count = 0; count < 30; count++) slow.feed.note('actions', `act_${count}`)
  await slow.until(() => slow.out.destroyed)
  await slow.ended
  expect(await slow.metrics()).toEqual(
    expect.arrayContaining([
      'live_streams_open 0',
      'live_streams_total{resumed="true"} 1',
      'live_cuts_total{reason="slow_reader"} 1',
    ]),
  )
})

test('a client that does not read is cut, so that it uses a bounded amount of memory', async () => {
  const stream = openStream({ bytes: 100_000, isReading: false })
  await stream.until(() => stream.text() !== '')
  for (let count = 0; count < 30; count++) stream.feed.note('actions', `act_${count}`)
  await stream.until(() => stream.out.destroyed)
  await stream.ended
  expect(stream.out.writableLength).toBeLessThan(15 * 1_048_576)
})

test('heartbeats carry the position, so a client without events does not fall behind', async () => {
  const stream = openStream()
  await stream.until(() => stream.text().includes(': heartbeat'))
  expect(stream.text()).toBe('retry: 1000\n\n: heartbeat\nid: 000000000000\n\n')
  await stream.until(() => stream.text().split(': heartbeat').length === 4)
  await stream.stop()
})

test('a stream survives an unavailable database, and ends when its key is refused', async () => {
  const stream = openStream()
  await stream.until(() => stream.text().includes(': heartbeat'))
  stream.refuse(new AppError('unavailable', 'MongoDB is unavailable', { retryable: true }))
  for (let seconds = 0; seconds < 20; seconds++) await clock.advance(1_000)
  stream.refuse(undefined)
  stream.feed.note('actions', 'act_1')
  await stream.until(() => stream.text().includes('act_1'))
  stream.refuse(new AppError('unauthenticated', 'Unknown API key'))
  await stream.until(() => stream.out.destroyed)
  await stream.ended
})

test('changes that happen while the stream of the database is interrupted are sent once it is back', async () => {
  let isDown = false
  const stream = openStream({
    feed: feed => ({
      async open(after) {
        if (isDown) throw new AppError('unavailable', 'MongoDB is unavailable', { retryable: true })
        const cursor = await feed.open(after)
        return {
          get position() {
            return cursor.position
          },
          next: () => (isDown ? Promise.reject(new Error('interrupted')) : cursor.next()),
          close: () => cursor.close(),
        }
      },
    }),
  })
  await stream.until(() => stream.text().includes(': heartbeat'))
  isDown = true
  stream.feed.note('actions', 'act_1')
  stream.feed.note('actions', 'act_2')
  for (let seconds = 0; seconds < 3; seconds++) await clock.advance(1_000)
  isDown = false
  await stream.until(() => stream.text().includes('act_2'))
  expect(stream.text().match(/act_\d/g)).toEqual(['act_1', 'act_2'])
  expect(stream.text()).not.toContain('reset')
  await stream.stop()
})

test('a client whose position is no longer known is told to load everything again, and gets what follows', async () => {
  const stream = openStream()
  await stream.until(() => stream.text().includes(': heartbeat'))
  stream.feed.note('actions', 'act_1')
  stream.feed.forget()
  await stream.until(() => stream.text().includes('event: reset'))
  stream.feed.note('actions', 'act_2')
  await stream.until(() => stream.text().includes('act_2'))
  await stream.stop()
})

describe('a stream that waits for missed changes', () => {
  test('has heartbeats, and ends when its key is revoked', async () => {
    const stream = openStream({ after: START, feed: withSlowHistory })
    await stream.until(() => stream.text().includes('retry'))
    await pass(13)
    expect(stream.text()).toContain(': heartbeat\n\n')
    stream.refuse(new AppError('unauthenticated', 'Unknown API key'))
    await pass(5)
    await stream.ended
    expect(stream.out.destroyed).toBe(true)
    expect(stream.text()).not.toContain('act_')
  })

  test('is told to load everything again after 30 s, then gets new events', async () => {
    const stream = openStream({ after: START, feed: withSlowHistory })
    await stream.until(() => stream.text().includes('retry'))
    await pass(31)
    expect(stream.text()).toContain('id: 000000000001\nevent: reset')
    stream.feed.note('actions', 'act_new')
    await stream.until(() => stream.text().includes('act_new'))
    await stream.stop()
  })

  test('is told to load everything again when others read their missed changes for 30 s', async () => {
    const takeSlot = createSlots(1)
    void takeSlot(() => new Promise(() => {}), new AbortController().signal)
    const stream = openStream({ after: START, takeSlot, feed: withSlowHistory })
    await stream.until(() => stream.text().includes('retry'))
    await pass(31)
    expect(stream.text()).toContain('id: 000000000001\nevent: reset')
    await stream.stop()
  })

  test('ends at once when its client disconnects', async () => {
    const takeSlot = createSlots(1)
    void takeSlot(() => new Promise(() => {}), new AbortController().signal)
    const stream = openStream({ after: START, takeSlot, feed: withSlowHistory })
    await stream.until(() => stream.text().includes('retry'))
    await stream.stop()
  })

  test('is told to load everything again when more than a megabyte of new events waits', async () => {
    const stream = openStream({ after: START, bytes: 100_000, feed: withSlowHistory })
    await stream.until(() => stream.text().includes('retry'))
    for (let count = 0; count < 20; count++) stream.feed.note('actions', `act_${count}`)
    await stream.until(() => stream.text().includes('event: reset'))
    expect(stream.text()).not.toContain('act_')
    stream.feed.note('actions', 'act_new')
    await stream.until(() => stream.text().includes('act_new'))
    await stream.stop()
  })
})
