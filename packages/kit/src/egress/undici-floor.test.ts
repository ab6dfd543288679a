import undici from 'undici/package.json' with { type: 'json' }
import { expect, test } from 'vitest'

test('undici is newer than all versions with known vulnerabilities in the parts that the guarded client uses', () => {
  // CVE-2025-47279, CVE-2026-22036, CVE-2026-12151 and the advisories of 7.0.0 to 7.28.0.
  const [major = 0, minor = 0] = undici.version.split('.').map(Number)
  expect(major * 1_000 + minor).toBeGreaterThan(7_028)
})
