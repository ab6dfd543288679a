import { describe, expect, test } from 'vitest'
import { parseEvent } from './parse-event.ts'

const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map(part => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))))

describe('an authenticated body', () => {
  test.each([
    { name: 'an object', body: bytes('{"id":"évt 😀"}'), event: { id: 'évt 😀' } },
    { name: 'an object in blanks', body: bytes(' \r\n\t{"id":1}\n'), event: { id: 1 } },
    { name: 'an empty object', body: bytes('{}'), event: {} },
    { name: 'a name twice, of which the last counts', body: bytes('{"id":1,"id":2}'), event: { id: 2 } },
  ])('is an event when it is $name', ({ body, event }) => {
    expect(parseEvent(body)).toEqual({ kind: 'event', event })
  })

  test.each([
    { name: 'nothing', body: bytes(''), reason: 'not_json' },
    { name: 'blanks', body: bytes('  '), reason: 'not_json' },
    { name: 'text', body: bytes('hello'), reason: 'not_json' },
    { name: 'an object cut short', body: bytes('{"id":1'), reason: 'not_json' },
    { name: 'two objects', body: bytes('{}{}'), reason: 'not_json' },
    { name: 'an object that closes the envelope', body: bytes('{}},"x":{"y":1'), reason: 'not_json' },
    { name: 'a comment', body: bytes('{} // x'), reason: 'not_json' },
    { name: 'a zero byte behind it', body: bytes('{}', [0]), reason: 'not_json' },
    { name: 'a byte order mark', body: bytes([0xef, 0xbb, 0xbf], '{}'), reason: 'not_json' },
    { name: 'UTF-16', body: Buffer.from('{}', 'utf16le'), reason: 'not_json' },
    { name: 'a lone continuation byte', body: bytes('{"a":"', [0x80], '"}'), reason: 'not_utf8' },
    { name: 'an overlong form', body: bytes('{"a":"', [0xc0, 0xaf], '"}'), reason: 'not_utf8' },
    { name: 'a surrogate in UTF-8', body: bytes('{"a":"', [0xed, 0xa0, 0x80], '"}'), reason: 'not_utf8' },
    { name: 'a character cut short', body: bytes('{"a":"', [0xe2, 0x82], '"}'), reason: 'not_utf8' },
    { name: 'Latin-1', body: Buffer.from('{"a":"é"}', 'latin1'), reason: 'not_utf8' },
    { name: 'null', body: bytes('null'), reason: 'not_an_object' },
    { name: 'a list', body: bytes('[{"id":1}]'), reason: 'not_an_object' },
    { name: 'a string', body: bytes('"{}"'), reason: 'not_an_object' },
    { name: 'a number', body: bytes('1'), reason: 'not_an_object' },
  ])('is malformed when it is $name', ({ body, reason }) => {
    expect(parseEvent(body)).toEqual({ kind: 'malformed', reason })
  })

  test('may be nested as deep as a megabyte allows without breaking anything', () => {
    const deep = 500_000
    expect(parseEvent(bytes('{"a":', '['.repeat(deep), ']'.repeat(deep), '}')).kind).toBe('event')
  })
})
