import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { keepSecrets } from './kept-secrets.ts'

const folder = mkdtempSync(join(tmpdir(), 'backstop-secrets-'))
const path = join(folder, 'new', 'secrets.json')
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('secrets are made once, are readable for their owner only, and stay the same', () => {
  const first = keepSecrets(path)
  expect(first.secretKeys).toMatch(/^local:[A-Za-z0-9+/]{43}=$/)
  expect(first.bootstrapKey).toMatch(/^bsk_/)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(keepSecrets(path)).toEqual(first)
})

test.each(['', '{"secretKeys":', '{}', 'null'])(
  'a broken file (%j) is not replaced, but named with a remedy',
  content => {
    keepSecrets(path)
    writeFileSync(path, content)
    expect(() => keepSecrets(path)).toThrow(/secrets\.json is broken/)
    expect(readFileSync(path, 'utf8')).toBe(content)
  },
)
