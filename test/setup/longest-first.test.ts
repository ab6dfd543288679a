import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { LONGEST, mix } from './longest-first.ts'

test('each file that starts first exists', () => {
  expect(LONGEST.filter(file => !existsSync(resolve(import.meta.dirname, '../..', file)))).toEqual([])
})

test('a short list is spread over a long one, and both keep their order', () => {
  expect(mix([[...'12'], [...'abcdef']]).join('')).toBe('a1bcd2ef')
})
