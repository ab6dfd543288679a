import { describe, expect, test } from 'vitest'
import { shrink } from './shrink.ts'

const KINDS = ['killed', 'electionsMs', 'freezesMs', 'broken']
const ITEMS = Array.from({ length: 12 }, (_, index) => `change ${index}`)

describe('shrinking', () => {
  test('keeps only the kinds of fault and the items that the failure needs', async () => {
    const needed = ['electionsMs', 'change 3', 'change 7']
    const fails = async ({ without = [] }: { without?: readonly string[] }) =>
      needed.every(name => !without.includes(name))
    const found = await shrink({ options: { seed: 7, minutes: 4 }, parts: { kinds: KINDS, items: ITEMS }, fails })
    const kept = [...KINDS, ...ITEMS].filter(name => !found.without?.includes(name))
    expect({ kept, minutes: found.minutes, seed: found.seed }).toEqual({ kept: needed, minutes: 1, seed: 7 })
  })

  test('returns the same options if leaving anything out makes the run right', async () => {
    const options = { seed: 7, minutes: 1 }
    expect(await shrink({ options, parts: { kinds: KINDS, items: ITEMS }, fails: async () => false })).toEqual(options)
  })

  test('ends after a number of runs', async () => {
    let runs = 0
    const fails = async () => {
      runs += 1
      return false
    }
    await shrink({ options: { seed: 7, minutes: 1 }, parts: { kinds: KINDS, items: ITEMS }, fails, maxRuns: 5 })
    expect(runs).toBe(5)
  })
})
