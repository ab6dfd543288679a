import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { StackRecordFile } from './part-records.ts'
import { makePrivateFolder } from './private-folder.ts'

let parent: string
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'backstop-private-'))
  chmodSync(parent, 0o755)
})
afterEach(() => rmSync(parent, { recursive: true }))

const modeOf = (path: string) => statSync(path).mode & 0o777

test('only this user can enter a folder that was made', () => {
  makePrivateFolder(join(parent, 'own', 'stack'), false)
  expect([modeOf(join(parent, 'own')), modeOf(join(parent, 'own', 'stack'))]).toEqual([0o700, 0o700])
})

test('closes our folder of an earlier version, and leaves the folder of somebody else', () => {
  makePrivateFolder(parent, false)
  expect(modeOf(parent)).toBe(0o755)
  makePrivateFolder(parent, true)
  expect(modeOf(parent)).toBe(0o700)
})

test('the data folder of a stack is private, also after an earlier version made it', () => {
  const dataDir = join(parent, 'stack')
  const records = new StackRecordFile(dataDir)
  expect(modeOf(dataDir)).toBe(0o700)
  records.change(() => {})
  chmodSync(dataDir, 0o755)
  new StackRecordFile(dataDir).read()
  expect(modeOf(dataDir)).toBe(0o700)
})
