import { expect, test } from 'vitest'
import { createManualClock } from '../../test/manual-clock.ts'
import { AppError, unavailable } from '../errors.ts'
import { type RetryOptions, untilAvailable } from './until-available.ts'

/** A call that fails a given number of times and then succeeds. */
function failing(
  times: number,
  options: Omit<RetryOptions, 'clock'> = {},
  error: unknown = unavailable('Kafka', null),
) {
  const clock = createManualClock(0)
  const calledAtMs: number[] = []
  const result = untilAvailable(
    async () => {
      calledAtMs.push(clock.now())
      if (calledAtMs.length <= times) throw error
      return 'done'
    },
    { clock, ...options },
  )
  result.catch(() => {})
  return { clock, calledAtMs, result }
}

test('calls once when the call succeeds', async () => {
  const { calledAtMs, result } = failing(0)
  expect(await result).toBe('done')
  expect(calledAtMs).toEqual([0])
})

test('pauses twice as long after each failure', async () => {
  const { clock, calledAtMs, result } = failing(4)
  await clock.advance(10_000)
  expect(await result).toBe('done')
  expect(calledAtMs).toEqual([0, 250, 750, 1_750, 3_750])
})

test('pauses no longer than the longest pause', async () => {
  const pauses: number[] = []
  const { clock } = failing(4, { longestPauseMs: 600, onFailure: (_, pauseMs) => pauses.push(pauseMs) })
  await clock.advance(10_000)
  expect(pauses).toEqual([250, 500, 600, 600])
})

test.each([
  { name: 'an error of ours', error: new TypeError('x is undefined') },
  { name: 'an AppError that is not retryable', error: new AppError('message_invalid', 'Unusable') },
])('throws $name at once', async ({ error }) => {
  const { calledAtMs, result } = failing(9, {}, error)
  await expect(result).rejects.toBe(error)
  expect(calledAtMs).toEqual([0])
})

test('ends a pause with the reason of the signal when that is aborted', async () => {
  const stopping = new AbortController()
  const { clock, calledAtMs, result } = failing(9, { signal: stopping.signal })
  await clock.settle()
  stopping.abort('stopping')
  await expect(result).rejects.toBe('stopping')
  expect(calledAtMs).toEqual([0])
})

test('calls once with a signal that is aborted from the start', async () => {
  const signal = AbortSignal.abort('stopping')
  expect(await failing(0, { signal }).result).toBe('done')
  const { calledAtMs, result } = failing(1, { signal })
  await expect(result).rejects.toBe('stopping')
  expect(calledAtMs).toEqual([0])
})

test('ends when onFailure throws', async () => {
  const { result } = failing(9, {
    onFailure(error) {
      throw error
    },
  })
  await expect(result).rejects.toMatchObject({ code: 'unavailable' })
})
