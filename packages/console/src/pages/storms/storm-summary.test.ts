import type { Action } from '@backstop/client'
import { describe, expect, test } from 'vitest'
import type { Member } from './storm-members.ts'
import { barsOf, commonOf, searchOfBar, sumsOf } from './storm-summary.ts'

function memberOf(action: Partial<Action>): Member {
  const base = { amount: 100, currency: 'eur', mode: 'live', state: 'succeeded', subject: `pi_${Math.random()}` }
  return { incident: {} as Member['incident'], action: { ...base, ...action } as Action }
}

describe('the sums of a storm', () => {
  test('keep test money apart from live money, and leave out refunds that failed', () => {
    const members = [
      memberOf({ amount: 300 }),
      memberOf({ amount: 200 }),
      memberOf({ amount: 900, state: 'failed' }),
      memberOf({ amount: 50, mode: 'test' }),
    ]
    expect(sumsOf(members)).toEqual([
      { mode: 'live', currency: 'eur', amount: 500, count: 2, largest: 300 },
      { mode: 'test', currency: 'eur', amount: 50, count: 1, largest: 50 },
    ])
  })
})

describe('what the actions of a storm have in common', () => {
  test('is a value of at least half of them', () => {
    const members = [
      memberOf({ amount: 1, subject: 'pi_1' }),
      memberOf({ amount: 2, subject: 'pi_1' }),
      memberOf({ amount: 3, subject: 'pi_2' }),
      memberOf({ amount: 4, subject: 'pi_3' }),
    ]
    expect(commonOf(members).map(({ what, count }) => [what, count])).toEqual([['subject', 2]])
  })

  test('is an actor, also if another one made some of them', () => {
    const members = ['acr_1', 'acr_1', 'acr_2'].map((actor_id, amount) => memberOf({ amount, actor_id }))
    expect(commonOf(members).map(({ what, count }) => [what, count])).toEqual([['actor', 2]])
  })
})

describe('the bars of a storm', () => {
  test('are minutes, empty ones included', () => {
    expect(barsOf([60_000, 61_000, 180_000]).map(({ count }) => count)).toEqual([2, 0, 1])
  })

  test('are longer when the storm is long, and count every action', () => {
    const times = Array.from({ length: 500 }, (_, minute) => minute * 60_000)
    const bars = barsOf(times)
    expect(bars.length).toBeLessThanOrEqual(90)
    expect(bars.reduce((sum, { count }) => sum + count, 0)).toBe(500)
  })

  test('link to the actions that were made within them, whenever these were seen', () => {
    expect(barsOf([90_000]).map(searchOfBar)).toEqual([
      { made_from: '1970-01-01T00:01:00.000Z', made_to: '1970-01-01T00:02:00.000Z' },
    ])
  })

  test('are none without actions', () => {
    expect(barsOf([])).toEqual([])
  })
})
