import { expect, test } from 'vitest'
import { createChance } from './chance.ts'

test('gives the same ids for the same seed, and others for another seed', () => {
  expect(createChance(7).text(24)).toBe(createChance(7).text(24))
  expect(createChance(7).text(24)).not.toBe(createChance(8).text(24))
  expect(createChance(7).text(24)).toMatch(/^[A-Za-z0-9]{24}$/)
})

test('is uniform enough for rates', () => {
  const chance = createChance(1)
  const hits = Array.from({ length: 10_000 }, () => chance.next()).filter(value => value < 0.1).length
  expect(hits).toBeGreaterThan(900)
  expect(hits).toBeLessThan(1_100)
})
