import { ApiProblem, NoAnswer } from '@backstop/client'
import { expect, test } from 'vitest'
import { repeatAfterMs } from './repeat-after.ts'

test.each([
  ['without an answer', new NoAnswer('No answer'), 5_000],
  ['refused while the database is unavailable', new ApiProblem(503, {}), 5_000],
  ['refused with a longer wait', new ApiProblem(429, {}, 30_000), 30_000],
  ['of a missing resource', new ApiProblem(404, {}), false],
  ['that a fault of the page ended', new TypeError('x'), false],
  ['that succeeded', null, false],
] as const)('a read %s is repeated after %s: %s', (_, error, waitMs) => {
  expect(repeatAfterMs(error)).toBe(waitMs)
})
