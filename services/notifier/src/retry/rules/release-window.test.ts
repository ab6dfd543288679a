import { expect, test } from 'vitest'
import { RELEASE_ALL_EVERY_MS, releaseWindow } from './release-window.ts'

const NOW = Date.parse('2026-11-21T10:00:00.000Z')
const HOUR = 3_600_000

test.each([
  { name: 'for the first time', lastReleaseOfAllMs: undefined },
  { name: 'a minute after the last time', lastReleaseOfAllMs: NOW - RELEASE_ALL_EVERY_MS },
])('a channel that works again $name gets the retries that are planned for later, too', ({ lastReleaseOfAllMs }) => {
  const window = releaseWindow({ failingSinceMs: NOW - HOUR }, lastReleaseOfAllMs, NOW)
  expect(window.kind).toBe('all')
  expect(window.dueByMs).toBeGreaterThan(NOW + 72 * HOUR)
})

test('a channel that fails and works in turns within a minute gets only the deliveries that are due', () => {
  const window = releaseWindow({ failingSinceMs: NOW - 10_000 }, NOW - RELEASE_ALL_EVERY_MS + 1, NOW)
  expect(window).toMatchObject({ kind: 'due', dueByMs: NOW })
})

test('deliveries that were created shortly before the first failure are included', () => {
  expect(releaseWindow({ failingSinceMs: NOW }, undefined, NOW).createdFromMs).toBe(NOW - 300_000)
})
