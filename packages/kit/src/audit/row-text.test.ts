import type { AuditDocument } from '@backstop/contracts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { canonicalJson, writtenText } from './row-text.ts'

test('the text of a row has its fields in order, at each depth', () => {
  expect(canonicalJson({ b: [{ d: null, c: undefined, a: 1 }], at: new Date(0), a: Number.NaN })).toBe(
    '{"a":null,"at":"1970-01-01T00:00:00.000Z","b":[{"a":1,"d":null}]}',
  )
})

test('a field may have any name', () => {
  const value = JSON.parse('{"__proto__": {"b": 1, "a": 2}, "10": 1, "9": 2, "": 3}')
  expect(canonicalJson(value)).toBe('{"9":2,"10":1,"":3,"__proto__":{"a":2,"b":1}}')
})

test('the text of a written row has no empty fields, and lone surrogates as MongoDB stores them', () => {
  const change = {
    resource: 'prj_1',
    field: 'name',
    to: { b: 'a\ud800', a: [null, undefined, 1], '\udfff': 2 },
    from: null,
  }
  const row = {
    _id: 'aud_1',
    at: new Date(0),
    actor: null,
    changes: [change],
    mac: 'k1.x',
    unchained: true,
    sequence: 7,
  }
  expect(writtenText(row as unknown as AuditDocument)).toBe(
    '{"_id":"aud_1","at":"1970-01-01T00:00:00.000Z","changes":[{"field":"name","resource":"prj_1","to":{"a":[null,null,1],"b":"a\ufffd","\ufffd":2}}]}',
  )
})

test('the text of a written row is the same after MongoDB replaced lone surrogates and undefined', () => {
  const fields = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ stringUnit: 'binary' }))
  fc.assert(
    fc.property(fields, to => {
      const written = writtenText({ changes: [{ to, from: undefined, field: null }] } as unknown as AuditDocument)
      const stored = JSON.parse(JSON.stringify(to), (_, item) => asStored(item))
      expect(writtenText({ changes: [{ field: null, from: null, to: stored }] } as unknown as AuditDocument)).toBe(
        written,
      )
    }),
  )
})

function asStored(item: unknown): unknown {
  if (typeof item === 'string') return item.toWellFormed()
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return item
  return Object.fromEntries(Object.entries(item).map(([name, field]) => [name.toWellFormed(), field]))
}
