import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { buildVersion } from '../../packages/kit/src/ops/build-info.ts'
import { imageTag, revisionOf, versionComponent } from './version.ts'

const COMMIT = '1a2b3c4d5e6f7a8b9c0d1a2b3c4d5e6f7a8b9c0d'

test.each([
  [COMMIT, '0.2.0+g1a2b3c4d5e6f'],
  ['1a2b3c4d', '0.2.0+g1a2b3c4d'],
  ['1a2b3c4d5e6f-dirty', '0.2.0+g1a2b3c4d5e6f-dirty'],
  ['unknown', '0.2.0+unknown'],
  ['', '0.2.0+unknown'],
])('code of the revision "%s" is %s, and never only the release', (revision, version) => {
  expect(buildVersion(revision, '0.2.0')).toBe(version)
})

test('a tag is a valid one for images, labels and names of jobs', () => {
  expect(imageTag(`${COMMIT}-dirty`)).toMatch(/^\d+\.\d+\.\d+(?:-dev)?-g1a2b3c4d5e6f-dirty$/)
  expect(versionComponent('0.2.0-g1a2b3c4d5e6f')).toContain('backstop-provision-0-2-0-g1a2b3c4d5e6f')
})

test('a folder without git has an unknown revision', () => {
  const folder = mkdtempSync(join(tmpdir(), 'backstop-version-'))
  try {
    expect(revisionOf(folder)).toBe('unknown')
  } finally {
    rmSync(folder, { recursive: true })
  }
})
