import { expect, test } from 'vitest'
import { newTraceIds } from './random-ids.ts'

test('trace ids have 48 hex digits and never repeat, across many fillings of the pool', () => {
  const ids = Array.from({ length: 2_000 }, newTraceIds)
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{48}$/)
  expect(new Set(ids).size).toBe(ids.length)
})
