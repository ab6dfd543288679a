import { describe, expect, test } from 'vitest'
import { createManualClock } from '../../test/manual-clock.ts'
import { within } from './within.ts'

const never = () => new Promise<string>(() => {})

describe('work within a time', () => {
  test('gives its result, and leaves no timer and no listener', async () => {
    const clock = createManualClock()
    const outer = new AbortController()
    expect(await within(clock, 1_000, async () => 'done', 'late', outer.signal)).toBe('done')
    await expect(within(clock, 1_000, () => Promise.reject(new Error('no')), 'late')).rejects.toThrow('no')
  })

  test('is aborted when the time is over, and its end is not waited for', async () => {
    const clock = createManualClock()
    let signal: AbortSignal | undefined
    const result = within(
      clock,
      1_000,
      given => {
        signal = given
        return never()
      },
      'late',
    )
    await clock.advance(999)
    expect(signal?.aborted).toBe(false)
    await clock.advance(1)
    expect(await result).toBe('late')
    expect(signal?.aborted).toBe(true)
  })

  test('is aborted with what surrounds it, and never begun after that', async () => {
    const clock = createManualClock()
    const outer = new AbortController()
    const result = within(clock, 1_000, never, 'late', outer.signal)
    outer.abort()
    expect(await result).toBe('late')
    const begun: string[] = []
    await within(clock, 1_000, async () => begun.push('late'), 0, outer.signal)
    expect(begun).toEqual([])
  })
})
