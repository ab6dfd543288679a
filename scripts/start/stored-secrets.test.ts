import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { StartFault } from './start-fault.ts'
import { loadOrCreateSecrets } from './stored-secrets.ts'

const folder = mkdtempSync(join(tmpdir(), 'backstop-secrets-'))
const path = join(folder, 'new', 'secrets.json')
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function faultOf(act: () => unknown): StartFault {
  try {
    act()
  } catch (error) {
    if (error instanceof StartFault) return error
  }
  throw new Error('No StartFault was thrown')
}

test('makes the secrets once, readable for their owner only', () => {
  const first = loadOrCreateSecrets(path)
  expect(first.secretKeys).toMatch(/^local:[A-Za-z0-9+/]{43}=$/)
  expect(first.bootstrapKey).toMatch(/^bsk_/)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(loadOrCreateSecrets(path)).toEqual(first)
})

test('names the key of a lost file as lost, so that the secrets can be set again', () => {
  loadOrCreateSecrets(path)
  rmSync(path)
  mkdirSync(join(dirname(path), 'stack'))
  expect(loadOrCreateSecrets(path).secretKeys).toMatch(/^local-[0-9a-f]{6}:[A-Za-z0-9+/]{43}=,local:lost$/)
})

test.each(['', '{"secretKeys":', '{}', 'null'])(
  'keeps a broken file (%j) and names a way back that deletes nothing',
  content => {
    loadOrCreateSecrets(path)
    writeFileSync(path, content)
    const fault = faultOf(() => loadOrCreateSecrets(path))
    expect(fault.message).toMatch(/secrets\.json is broken/)
    expect(fault.remedy).toContain('npx backstop keys recover')
    expect(fault.remedy).not.toContain('rm ')
    expect(readFileSync(path, 'utf8')).toBe(content)
  },
)
