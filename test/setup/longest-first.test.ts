import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { LONGEST } from './longest-first.ts'

test('each file that starts first exists', () => {
  expect(LONGEST.filter(file => !existsSync(resolve(import.meta.dirname, '../..', file)))).toEqual([])
})
