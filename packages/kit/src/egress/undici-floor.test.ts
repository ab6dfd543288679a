import undici from 'undici/package.json' with { type: 'json' }
import { expect, test } from 'vitest'

test('undici is beyond the versions with known holes in what is used of it (R1.12)', () => {
  // CVE-2025-47279, CVE-2026-22036, CVE-2026-12151 and the advisories of 7.0.0 to 7.28.0.
  const [major = 0, minor = 0] = undici.version.split('.').map(Number)
  expect(major * 1_000 + minor).toBeGreaterThan(7_028)
})
