import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createSigner } from './signer.ts'

test('a signature is the HMAC-SHA256 of node:crypto, for keys and bodies of every length', () => {
  const key = fc.uint8Array({ minLength: 1, maxLength: 200 })
  const prefix = fc.stringMatching(/^\d{1,12}[.:]$/)
  const body = fc.uint8Array({ maxLength: 20_000, size: 'max' })
  const property = fc.property(key, prefix, body, (key, prefix, body) => {
    expect(createSigner(key)(prefix, body)).toBe(createHmac('sha256', key).update(prefix).update(body).digest('hex'))
  })
  fc.assert(property, { numRuns: 300 })
})

test('a key and a body of the lengths at which the computation changes are signed as by node:crypto', () => {
  for (const keyBytes of [1, 63, 64, 65, 128]) {
    for (const bodyBytes of [0, 1, 8_192, 1_048_576]) {
      const [key, body] = [Buffer.alloc(keyBytes, 7), Buffer.alloc(bodyBytes, 9)]
      expect(createSigner(key)('1.', body)).toBe(createHmac('sha256', key).update('1.').update(body).digest('hex'))
    }
  }
})

test('a signer signs the same after another one has signed', () => {
  const [first, second] = [createSigner(Buffer.from('first')), createSigner(Buffer.from('second'))]
  const before = first('1.', Buffer.from('body'))
  second('1.', Buffer.from('another body'))
  expect(first('1.', Buffer.from('body'))).toBe(before)
})
