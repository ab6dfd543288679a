import { describe, expect, test } from 'vitest'
import { testedFiles, withRepeated } from './test-report.ts'

const passed = { fullName: 'adds', status: 'passed', failureMessages: [] }
const failed = {
  fullName: 'divides',
  status: 'failed',
  failureMessages: ['AssertionError: 1 is not 2\n    at divide.ts:1'],
}

describe('the report of a run', () => {
  test('has the failed tests of a file with the first line of their errors', () => {
    const report = {
      testResults: [{ name: '/p/a.test.ts', status: 'failed', message: '', assertionResults: [passed, failed] }],
    }
    expect(testedFiles(report)).toEqual([
      { path: '/p/a.test.ts', passed: 1, failures: [{ test: 'divides', error: 'AssertionError: 1 is not 2' }] },
    ])
  })

  test('has a failure for a file whose set-up failed before any test', () => {
    const skipped = { fullName: 'adds', status: 'skipped', failureMessages: [] }
    const report = {
      testResults: [{ name: '/p/a.test.ts', status: 'failed', message: 'no broker', assertionResults: [skipped] }],
    }
    expect(testedFiles(report)[0]?.failures).toEqual([{ test: null, error: 'no broker' }])
  })
})

test('the second run of a file replaces its first one, and no other', () => {
  const first = [
    { path: '/p/a.test.ts', passed: 1, failures: [{ test: 'divides', error: 'late' }] },
    { path: '/p/b.test.ts', passed: 3, failures: [] },
  ]
  const second = { path: '/p/a.test.ts', passed: 2, failures: [] }
  expect(withRepeated(first, [second])).toEqual([second, first[1]])
})
