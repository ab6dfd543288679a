import { describe, expect, test } from 'vitest'
import { emailChannel } from '../../test/fixtures.ts'
import { isSingleAddress, validAddresses } from './addresses.ts'

describe('an address', () => {
  test.each([
    { address: 'ops@example.com', valid: true },
    { address: 'ops+alerts@mail.example.co.uk', valid: true },
    { address: "o'brien@example.com", valid: true },
    { address: 'root@localhost', valid: true },
    { address: 'two@example.com, three@example.com', valid: false },
    { address: 'Ops <ops@example.com>', valid: false },
    { address: 'group:ops@example.com;', valid: false },
    { address: 'ops@example.com\r\nBcc: x@example.com', valid: false },
    { address: '"a b"@example.com', valid: false },
    { address: 'ops(comment)@example.com', valid: false },
    { address: 'ops@-example.com', valid: false },
    { address: 'ops@example..com', valid: false },
    { address: '.ops@example.com', valid: false },
    { address: 'ops@[127.0.0.1]', valid: false },
    { address: 'ops', valid: false },
    { address: '', valid: false },
    { address: `${'a'.repeat(65)}@example.com`, valid: false },
    { address: `a@${'b'.repeat(60)}.${'c.'.repeat(100)}example`, valid: false },
  ])('$address is one plain address: $valid', ({ address, valid }) => expect(isSingleAddress(address)).toBe(valid))

  test('that is not one plain address, or a repeated one, is left out', () => {
    const channel = emailChannel('chn_1', ['a@example.com', 'b@example.com, c@example.com', 'a@example.com'])
    expect(validAddresses(channel)).toEqual(['a@example.com'])
  })
})
