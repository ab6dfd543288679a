import { expect, test } from 'vitest'
import { createManualClock } from '../../test/manual-clock.ts'
import { createPeriodic } from './periodic.ts'

/** Starts a task whose runs take `runMs`. @returns the starts of its runs, in milliseconds since the start */
function startTask(runMs: number, maxShare?: number) {
  const clock = createManualClock()
  const startedAt = clock.now()
  const starts: number[] = []
  const task = createPeriodic({
    clock,
    pauseMs: 1_000,
    ...(maxShare === undefined ? {} : { maxShare }),
    run: () => {
      starts.push(clock.now() - startedAt)
      return new Promise(resolve => clock.schedule(runMs, resolve))
    },
    onFailure: error => {
      throw error
    },
  })
  task.start()
  return { clock, starts, task }
}

test('pauses after each run', async () => {
  const { clock, starts } = startTask(500)
  await clock.advance(4_000)
  expect(starts).toEqual([1_000, 2_500, 4_000])
})

test('long runs take at most their share of the time', async () => {
  const { clock, starts } = startTask(500, 0.1)
  await clock.advance(11_000)
  expect(starts).toEqual([1_000, 6_000, 11_000])
})

test('short runs are not delayed by their share', async () => {
  const { clock, starts } = startTask(50, 0.1)
  await clock.advance(3_200)
  expect(starts).toEqual([1_000, 2_050, 3_100])
})

test('does not run again after a stop, which waits for the current run', async () => {
  const { clock, starts, task } = startTask(500)
  await clock.advance(1_200)
  let isStopped = false
  const stopping = task.stop().then(() => {
    isStopped = true
  })
  await clock.settle()
  expect(isStopped).toBe(false)
  await clock.advance(10_000)
  await stopping
  expect(starts).toEqual([1_000])
})
