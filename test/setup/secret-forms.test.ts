import { expect, test } from 'vitest'
import { formsOf } from './secret-forms.ts'

const SECRET = Buffer.from('a secret/with+signs?')

test.each([
  ['as it is', (text: Buffer) => text.toString('latin1')],
  ['in base64', (text: Buffer) => text.toString('base64')],
  ['in base64url', (text: Buffer) => text.toString('base64url')],
  ['in hex', (text: Buffer) => text.toString('hex')],
  ['in a URL', (text: Buffer) => encodeURIComponent(text.toString())],
  ['in a form', (text: Buffer) => new URLSearchParams({ name: text.toString() }).toString()],
])('a secret is found %s, wherever it is in a text', (_, write) => {
  for (const before of ['', 'x', 'xy', 'xyz']) {
    for (const after of ['', 'x', 'xy']) {
      const text = write(Buffer.concat([Buffer.from(before), SECRET, Buffer.from(after)]))
      expect(formsOf(SECRET).filter(form => text.includes(form))).not.toEqual([])
    }
  }
})
