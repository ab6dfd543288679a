import { createManualClock } from '@backstop/kit/test'
import { describe, expect, test } from 'vitest'
import { Bulkhead, type Compartment } from './bulkhead.ts'

function harness() {
  const clock = createManualClock()
  let freed = 0
  const bulkhead = new Bulkhead({
    clock,
    places: { quick: 1, slow: 2 },
    quickForMs: 3_000,
    onFree: () => {
      freed++
    },
  })
  const start = (compartment: Compartment) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const ended = bulkhead.run(compartment, () => promise)
    return { ended, end: resolve, fail: reject }
  }
  const places = () => ({ quick: bulkhead.hasPlace('quick'), slow: bulkhead.hasPlace('slow') })
  return { clock, start, places, freed: () => freed }
}

describe('the places of jobs', () => {
  test('of slow jobs leave the quick places free', () => {
    const { start, places } = harness()
    start('slow')
    start('slow')
    expect(places()).toEqual({ quick: true, slow: false })
  })

  test('are free again when a job ends or fails, and onFree is called', async () => {
    const { start, places, freed } = harness()
    const one = start('quick')
    expect(places().quick).toBe(false)
    one.end()
    await one.ended
    expect(places().quick).toBe(true)
    const other = start('quick')
    other.fail(new Error('no'))
    await expect(other.ended).rejects.toThrow('no')
    expect(places().quick).toBe(true)
    expect(freed()).toBe(2)
  })

  test('are free when a quick job takes long: it counts as slow from then on, even beyond the slow places', async () => {
    const { clock, start, places, freed } = harness()
    const jobs = [start('slow'), start('slow'), start('quick')]
    await clock.advance(2_999)
    expect(places()).toEqual({ quick: false, slow: false })
    await clock.advance(1)
    expect(places()).toEqual({ quick: true, slow: false })
    expect(freed()).toBe(1)
    jobs[2]?.end()
    await jobs[2]?.ended
    expect(places()).toEqual({ quick: true, slow: false })
    jobs[0]?.end()
    await jobs[0]?.ended
    expect(places()).toEqual({ quick: true, slow: true })
  })
})
