import { expect, test } from 'vitest'
import { readSourceFiles } from '../architecture/source-files.ts'
import { POINTS, POINTS_OFF_THE_WAY } from './points.ts'

test('every crash point in the code is on the list of a crash test, and no other', () => {
  const passed = readSourceFiles()
    .filter(file => file.isProduction)
    .flatMap(({ text }) => [...text.matchAll(/\bcrashPoint\('([^']+)'/g)].map(([, name]) => name))
  const listed = [...Object.values(POINTS).flat(), ...POINTS_OFF_THE_WAY]
  expect([...new Set(passed)].sort()).toEqual([...new Set(listed)].sort())
})
