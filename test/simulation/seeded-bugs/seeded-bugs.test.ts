import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { PROPERTIES } from '../judge/judge.ts'
import { readSeededBugs, withBug } from './seeded-bugs.ts'

const bugs = readSeededBugs()

test('there are at least 60 seeded bugs, each with a name of its own', () => {
  expect(new Set(bugs.map(({ name }) => name)).size).toBe(bugs.length)
  expect(bugs.length).toBeGreaterThanOrEqual(60)
})

test.each(bugs)('$name changes text that is in its file exactly once', bug => {
  const source = readFileSync(bug.file, 'utf8')
  expect(withBug(bug, source)).not.toBe(source)
  expect(PROPERTIES.map(({ name }) => name)).toContain(bug.breaks)
})
