import { ApiProblem } from '@backstop/client'
import { expect, test } from 'vitest'
import { versionToSave } from './version-to-save.ts'

test.each([
  ['the first attempt is for the version that the form began with', null, 1],
  ['an attempt after an outage is too', new ApiProblem(503, {}), 1],
  [
    'an attempt after a lost race is for the version that was shown',
    new ApiProblem(412, { code: 'precondition_failed' }),
    2,
  ],
])('%s', (_, error, version) => {
  expect(versionToSave({ version: 1 }, { version: 2 }, error)).toBe(version)
})
