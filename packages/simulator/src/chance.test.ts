import { expect, test } from 'vitest'
import { createChance } from './chance.ts'

test('the same seed gives the same ids, another seed gives others', () => {
  expect(createChance(7).text(24)).toBe(createChance(7).text(24))
  expect(createChance(7).text(24)).not.toBe(createChance(8).text(24))
  expect(createChance(7).text(24)).toMatch(/^[A-Za-z0-9]{24}$/)
})

test('chance is spread evenly enough for rates', () => {
  const chance = createChance(1)
  const hits = Array.from({ length: 10_000 }, () => chance.next()).filter(value => value < 0.1).length
  expect(hits).toBeGreaterThan(900)
  expect(hits).toBeLessThan(1_100)
})
