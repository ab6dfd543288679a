import { expect, test } from 'vitest'
import { readSourceFiles } from '../architecture/source-files.ts'
import { POINTS } from './points.ts'

test('every place where the code can be killed is on the list that the test of crashes goes through, and no other', () => {
  const passed = readSourceFiles()
    .filter(file => file.isProduction)
    .flatMap(({ text }) => [...text.matchAll(/\bcrashPoint\('([^']+)'/g)].map(([, name]) => name))
  expect([...new Set(passed)].sort()).toEqual([...new Set(Object.values(POINTS).flat())].sort())
})
