import { expect, test } from 'vitest'
import { createChance } from '../chance.ts'
import { type Disturbance, planPosts } from './disturbance.ts'

const plansOf = (disturbance: Disturbance, count: number) => {
  const chance = createChance(3)
  return Array.from({ length: count }, () => planPosts(disturbance, chance))
}

test('posts an undisturbed event once, without a delay', () => {
  expect(plansOf({}, 1)).toEqual([{ kind: 'posted', delaysMs: [0], hasFalseValues: false }])
})

test.each<{ name: string; disturbance: Disturbance; holds: (delaysMs: readonly number[]) => boolean }>([
  { name: 'three copies', disturbance: { copies: 3 }, holds: delays => delays.length === 3 },
  {
    name: 'a delay within its limits',
    disturbance: { delay: { minMs: 10, maxMs: 20 } },
    holds: ([delay = -1]) => delay >= 10 && delay < 20,
  },
  { name: 'an event held back', disturbance: { reorderRate: 1, reorderMs: 50 }, holds: ([delay]) => delay === 50 },
  { name: 'a certain duplicate', disturbance: { duplicateRate: 1 }, holds: delays => delays.length === 2 },
])('$name is planned as asked', ({ disturbance, holds }) => {
  for (const plan of plansOf(disturbance, 20)) expect(plan.kind === 'posted' && holds(plan.delaysMs)).toBe(true)
})

test('drops about the requested share of events, and the same ones for the same seed', () => {
  const dropped = plansOf({ dropRate: 0.3 }, 1_000).map(plan => plan.kind === 'dropped')
  const count = dropped.filter(Boolean).length
  expect(count).toBeGreaterThan(250)
  expect(count).toBeLessThan(350)
  expect(plansOf({ dropRate: 0.3 }, 1_000).map(plan => plan.kind === 'dropped')).toEqual(dropped)
})
