import { expect, test } from 'vitest'
import { type CountedActions, countActors } from './count-day.ts'

const MADE: CountedActions = {
  ...{ verdict: 'unexplained', reason: 'nothing_explains_it', kind: 'refund', state: 'succeeded', mode: 'live' },
  ...{ currency: 'eur', count: 1, amount: 100, actor_id: 'acr_1' },
  ...{ first: '2026-11-03T10:00:00.000Z', last: '2026-11-03T11:00:00.000Z' },
}
const SHOWN = { actor_id: 'acr_1', kind: 'refund', currency: 'eur', mode: 'live', first: MADE.first, last: MADE.last }

test('counts an actor by kind, currency and mode, without money that did not move, and nobody without a name', () => {
  const later = { ...MADE, first: '2026-11-03T12:00:00.000Z', last: '2026-11-03T13:00:00.000Z' }
  const failed = { ...later, state: 'failed' as const, count: 2, amount: 900 }
  expect(countActors([{ ...MADE, currency: 'usd' }, MADE, failed, { ...MADE, actor_id: null }])).toEqual([
    { ...SHOWN, count: 3, amount: 100, last: later.last },
    { ...SHOWN, currency: 'usd', count: 1, amount: 100 },
  ])
})

test('keeps the 1,000 actors with the most actions of all kinds, each with all its counts', () => {
  const others = Array.from({ length: 1_000 }, (_, index) => ({ ...MADE, actor_id: `acr_other_${index}`, count: 3 }))
  const fewest = { ...MADE, actor_id: 'acr_fewest', count: 2 }
  // Each of these counts is smaller than every other one, and their sum is larger.
  const most = ['eur', 'usd', 'gbp', 'jpy'].map(currency => ({ ...MADE, currency }))
  const counted = countActors([fewest, ...most, ...others])
  expect(counted.filter(({ actor_id }) => actor_id === 'acr_1')).toHaveLength(4)
  expect(new Set(counted.map(({ actor_id }) => actor_id)).size).toBe(1_000)
  expect(counted.map(({ actor_id }) => actor_id)).not.toContain('acr_fewest')
})
