import fc from 'fast-check'
import { expect, test } from 'vitest'
import { showableLines, showableText } from './showable-text.ts'

test.for([
  { name: 'an ordinary id', text: 'Söhne & Co KG / 日本', shown: 'Söhne & Co KG / 日本' },
  { name: 'a right-to-left override', text: 'pi_\u202e1_ip', shown: 'pi_<U+202E>1_ip' },
  { name: 'an isolate', text: 'a\u2066b\u2069', shown: 'a<U+2066>b<U+2069>' },
  { name: 'a blank without width', text: 'pi_\u200b1', shown: 'pi_<U+200B>1' },
  { name: 'an escape sequence of a terminal', text: 'a\x1b[31m\x9b0m', shown: 'a<U+001B>[31m<U+009B>0m' },
  { name: 'a line separator', text: 'a\u2028b', shown: 'a<U+2028>b' },
  { name: 'a text of two lines', text: 'a\r\n\tb', shown: 'a b' },
  { name: 'a lone surrogate', text: 'a\ud800', shown: 'a<U+D800>' },
  { name: 'an emoji with joiners', text: '👩‍💻', shown: '👩‍💻' },
])('$name is shown as $shown', ({ text, shown }) => {
  expect(showableText(text)).toBe(shown)
})

test('keeps line breaks and tabs of a text of several lines', () => {
  expect(showableLines('a\u202e\r\n\tb\0')).toBe('a<U+202E>\r\n\tb<U+0000>')
})

test('replaces every character that hides or turns the text around it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), text => {
      const shown = showableText(text)
      expect(shown).not.toMatch(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c\u200b\ufeff]/u)
      expect(shown.isWellFormed()).toBe(true)
      expect(showableText(shown)).toBe(shown)
    }),
  )
})
