import { describe, expect, test } from 'vitest'
import { schemaChanges } from './schema-changes.ts'
import { incompatibilities } from './schema-compatibility.ts'

describe('whether a newer schema reads the data of an older one', () => {
  test.each(schemaChanges)('$name: $verdict', ({ older, newer, verdict, reason }) => {
    const reasons = incompatibilities(older, newer)
    if (verdict === 'compatible') expect(reasons).toEqual([])
    else expect(reasons.join('\n')).toMatch(reason!)
  })
})

test('every schema reads its own data', () => {
  for (const { older, newer } of schemaChanges) {
    expect(incompatibilities(older, older)).toEqual([])
    expect(incompatibilities(newer, newer)).toEqual([])
  }
})
