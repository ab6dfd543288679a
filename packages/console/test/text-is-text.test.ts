import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'

const SOURCES = resolve(import.meta.dirname, '../src')
const files = globSync('**/*.{ts,tsx}', { cwd: SOURCES }).filter(path => !path.endsWith('.test.ts'))
/** The ways in which text of a provider could become markup or code. */
const MAKES_MARKUP =
  /dangerouslySetInnerHTML|\.(?:inner|outer)HTML\b|insertAdjacentHTML|document\.write|\beval\(|new Function\(|javascript:/

test('no code turns text into markup, so the text of a provider stays text', () => {
  expect(files.length).toBeGreaterThan(50)
  expect(files.filter(path => MAKES_MARKUP.test(readFileSync(join(SOURCES, path), 'utf8')))).toEqual([])
})
