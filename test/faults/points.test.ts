import { expect, test } from 'vitest'
import { readSourceFiles } from '../architecture/source-files.ts'
import { OTHER_CRASH_POINTS, REFUND_CRASH_POINTS } from './points.ts'

test('the lists of the crash tests contain exactly the crash points in the code', () => {
  const passed = readSourceFiles()
    .filter(file => file.isProduction)
    .flatMap(({ text }) => [...text.matchAll(/\bcrashPoint\('([^']+)'/g)].map(([, name]) => name))
  const listed = [...Object.values(REFUND_CRASH_POINTS).flat(), ...OTHER_CRASH_POINTS]
  expect([...new Set(passed)].sort()).toEqual([...new Set(listed)].sort())
})
