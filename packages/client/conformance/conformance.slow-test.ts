/** The Node reporter keeps what docs/reporting.md promises, and the suite would notice if it did not. */
import { expect, test } from 'vitest'
import { readCases } from './case.ts'
import { readFaults } from './faults.ts'
import { playAll } from './play-all.ts'

const cases = readCases()
const programOf = (name: string, ...args: string[]) => [process.execPath, `${import.meta.dirname}/${name}`, ...args]

test('the Node reporter passes every case', async () => {
  const outcomes = await playAll(cases, programOf('driver.ts'))
  expect(outcomes.filter(({ kind }) => kind !== 'passed')).toEqual([])
  expect(outcomes).toHaveLength(cases.length)
})

test.concurrent.each(readFaults(`${import.meta.dirname}/faults.yaml`))(
  'a case fails for a reporter that $name',
  async ({ name, case: noticing }) => {
    const chosen = cases.filter(one => one.name.includes(noticing))
    expect(chosen).toHaveLength(1)
    const outcomes = await playAll(chosen, programOf('faulty-driver.ts', name), { attempts: 1 })
    expect(outcomes).toMatchObject([{ kind: 'failed' }])
  },
)
