import { readFileSync } from 'node:fs'
import { ERROR_CODES } from '@backstop/contracts'
import { expect, test } from 'vitest'

const document = readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8')
const rows = [...document.matchAll(/^\| `(\w+)` +\| (\d+) +\|.+\|.+\|$/gm)]

test('docs/errors.md describes every error code, and no other', () => {
  expect(rows.map(([, code]) => code).toSorted()).toEqual(Object.keys(ERROR_CODES).toSorted())
})

test('docs/errors.md gives each code the status that it is answered with', () => {
  const described = Object.fromEntries(rows.map(([, code, status]) => [code, Number(status)]))
  expect(described).toEqual(Object.fromEntries(Object.entries(ERROR_CODES).map(([code, { status }]) => [code, status])))
})
