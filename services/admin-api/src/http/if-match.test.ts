import { describe, expect, test } from 'vitest'
import { checkIfMatch } from './if-match.ts'

describe('If-Match on version 3', () => {
  const rows = [
    { name: 'is not required', header: undefined, isMet: true },
    { name: 'is met by the version', header: '"3"', isMet: true },
    { name: 'is met by any version where it is a star', header: '*', isMet: true },
    { name: 'is met by a list that holds the version', header: '"1", "3"', isMet: true },
    { name: 'is not met by an older version', header: '"2"', isMet: false },
    { name: 'is not met by a weak tag, which promises no equality', header: 'W/"3"', isMet: false },
    { name: 'is not met by a bare number', header: '3', isMet: false },
    { name: 'is not met by nothing', header: '', isMet: false },
  ]
  test.each(rows)('$name', ({ header, isMet }) => {
    const check = () => checkIfMatch(header, 3)
    if (isMet) expect(check).not.toThrow()
    else expect(check).toThrow(expect.objectContaining({ code: 'precondition_failed' }))
  })
})
