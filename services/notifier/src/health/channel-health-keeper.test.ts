import { PROJECT } from '@backstop/channels/test'
import { unavailable } from '@backstop/kit/errors'
import { createLogger } from '@backstop/kit/logger'
import { createManualClock } from '@backstop/kit/test'
import { expect, test } from 'vitest'
import { createMemoryHealthStore } from '../../test/stores/memory-health-store.ts'
import { createMemoryChannelStore, createMemoryCollections } from '../../test/stores/memory-stores.ts'
import { ChannelDirectory } from '../channels/channel-directory.ts'
import { ChannelHealthKeeper } from './channel-health-keeper.ts'
import type { ChannelReports, HealthStore } from './health-store.ts'
import type { HealthReport } from './rules/channel-health.ts'

const worked = (atMs: number): HealthReport => ({ kind: 'worked', atMs, error: null })
const failed = (atMs: number): HealthReport => ({ kind: 'failed', atMs, error: 'No answer' })
const of = (channelId: string, ...reports: HealthReport[]): ChannelReports => ({
  channelId,
  projectId: PROJECT,
  reports,
})

function openKeeper() {
  const clock = createManualClock()
  const collections = createMemoryCollections()
  const store = createMemoryHealthStore(collections)
  const state = { writes: 0, isDown: false }
  const health: HealthStore = {
    ...store,
    async record(channels) {
      if (state.isDown) throw unavailable('MongoDB', new Error('gone'))
      state.writes += 1
      await store.record(channels)
    },
  }
  const keeper = new ChannelHealthKeeper({
    health,
    directory: new ChannelDirectory(createMemoryChannelStore(collections), clock),
    publisher: { publish: async () => ({ stuck: 0 }) },
    clock,
    logger: createLogger('test', 'silent'),
  })
  keeper.start()
  const delivered = async (channelId: string) =>
    Object.values((await store.find(channelId))?.days ?? {}).reduce((sum, day) => sum + day.delivered, 0)
  return { clock, keeper, store, state, delivered }
}

test('the first success of a channel is recorded at once, further successes within a second', async () => {
  const { clock, keeper, state, delivered } = openKeeper()
  await keeper.note([of('a', worked(1)), of('b', worked(1))])
  expect([await delivered('a'), await delivered('b'), state.writes]).toEqual([1, 1, 1])
  for (let atMs = 2; atMs <= 100; atMs++) await keeper.note([of('a', worked(atMs)), of('b', worked(atMs))])
  expect(state.writes).toBe(1)
  await clock.advance(1_000)
  expect([await delivered('a'), await delivered('b'), state.writes]).toEqual([100, 100, 2])
})

test('a failure and the first success after it are recorded at once, after the delayed reports of the channel', async () => {
  const { keeper, store, delivered } = openKeeper()
  await keeper.note([of('a', worked(1)), of('b', worked(1))])
  await keeper.note([of('a', worked(2)), of('b', worked(2))])
  await keeper.note([of('a', failed(3))])
  expect(await delivered('a')).toBe(2)
  expect(await store.find('a')).toMatchObject({ last_success_at: new Date(2), failing_since: new Date(3) })
  expect(await delivered('b')).toBe(1)
  await keeper.note([of('a', worked(4))])
  expect(await store.find('a')).toMatchObject({ last_success_at: new Date(4), failing_since: null })
})

test('delayed reports are not lost in a database outage or when the process stops', async () => {
  const { clock, keeper, state, delivered } = openKeeper()
  await keeper.note([of('a', worked(1))])
  await keeper.note([of('a', worked(2))])
  state.isDown = true
  await clock.advance(1_000)
  await keeper.note([of('a', worked(3))])
  await expect(keeper.note([of('b', worked(3))])).rejects.toThrow('MongoDB')
  state.isDown = false
  await keeper.stop()
  expect([await delivered('a'), await delivered('b')]).toEqual([3, 0])
})

const pausedAt = (sinceMs: number) =>
  ({ since: new Date(sinceMs), until: new Date(sinceMs + 5_000), reason: 'failing' }) as const

test('the first success after a recorded pause reports the recovery of the channel, once', async () => {
  const { clock, keeper, store } = openKeeper()
  await keeper.note([of('a', failed(1)), of('b', failed(1))])
  keeper.notePause('a', PROJECT, pausedAt(2))
  // The success is noted before the pause is recorded, and waits for the record.
  const recovered = await keeper.note([of('a', worked(3)), of('b', worked(3))])
  expect(recovered).toEqual([{ channelId: 'a', failingSinceMs: 1 }])
  expect(await keeper.note([of('a', worked(4))])).toEqual([])
  expect((await store.find('a'))?.held).toBeUndefined()
  await clock.settle()
  await keeper.stop()
})

test('a change of the channel ends its recorded pause and reports the recovery', async () => {
  const { keeper, store } = openKeeper()
  await keeper.note([of('a', failed(1))])
  keeper.notePause('a', PROJECT, pausedAt(2))
  expect(await keeper.endPause('a', PROJECT)).toEqual([{ channelId: 'a', failingSinceMs: 1 }])
  expect(await keeper.endPause('b', PROJECT)).toEqual([])
  expect((await store.find('a'))?.held).toBeUndefined()
  await keeper.stop()
})
