import { describe, expect, test } from 'vitest'
import { isProviderId, ProviderId } from './provider-id.ts'

describe('an id of a provider', () => {
  test.for([
    { name: 'printable ASCII', id: 'pi_3QK5' },
    { name: 'spaces, an ampersand and an umlaut', id: 'Söhne & Co KG' },
    { name: 'a slash', id: 'a/b' },
    { name: 'dots alone', id: '..' },
    { name: 'a leading and a trailing space', id: ' x ' },
    { name: 'a combining character that is not normalised', id: 'So\u0308hne' },
    { name: 'a right-to-left override', id: 'a\u202eb' },
    { name: '255 characters outside the basic plane', id: '😀'.repeat(255) },
  ])('is accepted with $name', ({ id }) => {
    expect(isProviderId(id)).toBe(true)
    expect(ProviderId.parse(id)).toBe(id)
  })

  test.for([
    { name: 'nothing in it', id: '' },
    { name: 'a line break', id: 'a\nb' },
    { name: 'a line break at its end', id: 'a\n' },
    { name: 'NUL', id: '\0' },
    { name: 'DEL', id: 'a\x7f' },
    { name: 'a C1 control character', id: 'a\x9b31m' },
    { name: 'a lone high surrogate', id: 'a\ud800' },
    { name: 'a lone low surrogate', id: '\udc00a' },
    { name: '256 code points', id: 'x'.repeat(256) },
    { name: 'a number instead of text', id: 7 },
  ])('is refused with $name', ({ id }) => {
    expect(isProviderId(id)).toBe(false)
    expect(ProviderId.safeParse(id).success).toBe(false)
  })
})
