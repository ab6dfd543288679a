import { createManualClock } from '@backstop/kit/test'
import { expect, test } from 'vitest'
import { TargetPaces } from './target-paces.ts'

const INTERVAL_MS = 1_000

/** Starts attempts of these channels at one target, each as soon as it is allowed. */
function startChannels(...channelIds: string[]) {
  const clock = createManualClock()
  const beganAtMs = clock.now()
  const starts: [string, number][] = []
  const paces = new TargetPaces(clock, channelId => begin(channelId))
  const begin = (channelId: string) => {
    if (!channelIds.includes(channelId) || !paces.mayStart('target', channelId)) return
    starts.push([channelId, clock.now() - beganAtMs])
    paces.delayNextStart('target', INTERVAL_MS)
    // The channel has another job.
    begin(channelId)
  }
  return { clock, paces, starts, begin }
}

test('channels with one target take turns at its pace, however much each has', async () => {
  const { clock, starts, begin } = startChannels('a', 'b')
  begin('a')
  begin('b')
  await clock.advance(3_500)
  expect(starts).toEqual([
    ['a', 0],
    ['a', 1_000],
    ['b', 2_000],
    ['a', 3_000],
  ])
})

test('a pause that grows is waited for whole', async () => {
  const { clock, paces, starts, begin } = startChannels('a')
  begin('a')
  await clock.advance(900)
  paces.delayNextStart('target', INTERVAL_MS)
  await clock.advance(999)
  expect(starts).toHaveLength(1)
  await clock.advance(1)
  expect(starts).toHaveLength(2)
})

test('a channel without jobs at its turn delays no other channel', async () => {
  const { clock, paces, starts, begin } = startChannels('a', 'b')
  begin('a')
  paces.mayStart('target', 'gone')
  begin('b')
  await clock.advance(1_000)
  expect(starts.map(([channelId]) => channelId)).toEqual(['a', 'a'])
  await clock.advance(1_000)
  expect(starts.map(([channelId]) => channelId)).toEqual(['a', 'a', 'b'])
})

test('another target, and one that takes any number, is not waited for', () => {
  const { paces } = startChannels()
  paces.delayNextStart('target', INTERVAL_MS)
  paces.delayNextStart(undefined, INTERVAL_MS)
  expect(paces.mayStart('target', 'a')).toBe(false)
  expect(paces.mayStart('other', 'a')).toBe(true)
  expect(paces.mayStart(undefined, 'a')).toBe(true)
})

test('a target without waiting channels is removed', async () => {
  const clock = createManualClock()
  let looks = 0
  const counting = {
    ...clock,
    schedule: (ms: number, callback: () => void) =>
      clock.schedule(ms, () => {
        looks++
        callback()
      }),
  }
  new TargetPaces(counting, () => {}).delayNextStart('target', INTERVAL_MS)
  await clock.advance(10 * INTERVAL_MS)
  expect(looks).toBe(1)
})
