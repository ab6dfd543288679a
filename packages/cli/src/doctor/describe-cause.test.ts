import { AppError, unavailable } from '@backstop/kit/errors'
import { expect, test } from 'vitest'
import { describeCause } from './describe-cause.ts'

const coded = (code: unknown, message = 'connect to user:password@host') => Object.assign(new Error(message), { code })

test.each<{ name: string; cause: unknown; says: string }>([
  { name: 'the code of the network error', cause: coded('ECONNREFUSED'), says: ' (ECONNREFUSED)' },
  {
    name: 'the code of the error behind it',
    cause: new TypeError('fetch failed', { cause: coded('UND_ERR_SOCKET') }),
    says: ' (UND_ERR_SOCKET)',
  },
  { name: 'a sentence of ours', cause: new Error('No answer within 5 s'), says: ' (no answer within 5 s)' },
  {
    name: 'the name of an error with a number',
    cause: new DOMException('Aborted', 'TimeoutError'),
    says: ' (TimeoutError)',
  },
  { name: 'no number alone, and no address', cause: coded(23), says: '' },
  { name: 'nothing without a cause', cause: undefined, says: '' },
])('says $name', ({ cause, says }) => {
  expect(describeCause(unavailable('The schema registry', cause))).toBe(says)
})

test('a bug is thrown on', () => {
  expect(() => describeCause(new TypeError('undefined is not a function'))).toThrow(TypeError)
  expect(describeCause(new AppError('internal', 'It refused'))).toBe('')
})
