import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../..')

/** Fails unless `path` is a file that has a test with this name. */
export function expectTest(path: string, name: string): void {
  expect(existsSync(resolve(ROOT, path)), path).toBe(true)
  expect(name.length).toBeGreaterThan(10)
  expect(readFileSync(resolve(ROOT, path), 'utf8'), `${path} has a test of this name`).toContain(name)
}
