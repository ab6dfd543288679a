import { expect, test } from 'vitest'
import { hasDigests } from './has-digests.ts'
import { CHANNEL_MODULES } from './registry.ts'

test.each(Object.values(CHANNEL_MODULES))('states whether $kind has digests', ({ kind, digest }) => {
  expect(hasDigests(kind)).toBe(digest !== undefined)
})
