import { Secret } from '@backstop/kit/config'
import { createSecretBox, parseKeyRing } from '@backstop/kit/secret-box'
import { describe, expect, test } from 'vitest'
import { buildPage, createListCursors, type ListedRequest, PositionCursor } from './cursor.ts'

const key = (id: string, byte: number) => `${id}:${Buffer.alloc(32, byte).toString('base64')}`
const boxOf = (...keys: string[]) => createSecretBox(parseKeyRing(new Secret(keys.join())))
const box = boxOf(key('k1', 1))
const place = { at: new Date('2026-11-21T10:00:00.123Z'), id: 'act_1' }
const asked: ListedRequest = {
  list: 'listActions',
  projectId: 'prj_1',
  params: {},
  query: { kind: 'refund', limit: 50 },
  body: undefined,
}
const cursors = createListCursors(box, asked)
const cursor = cursors.sign(PositionCursor, place)
const refused = expect.objectContaining({ code: 'invalid_request' })

describe('a cursor', () => {
  test('leads back to its place', () => {
    expect(cursors.verify(PositionCursor, cursor)).toEqual(place)
    expect(cursors.verify(PositionCursor, undefined)).toBeUndefined()
  })

  test('works with another limit and format, and with the filters in another order', () => {
    const query = { format: 'csv', limit: 2, cursor, connection_id: undefined, kind: 'refund' }
    expect(createListCursors(box, { ...asked, query }).verify(PositionCursor, cursor)).toEqual(place)
  })

  test.each([
    { name: 'another list', changed: { list: 'listOperations' } },
    { name: 'another project', changed: { projectId: 'prj_2' } },
    { name: 'all projects', changed: { projectId: undefined } },
    { name: 'another resource in the path', changed: { params: { id: 'prj_2' } } },
    { name: 'another filter', changed: { query: { kind: 'cancellation' } } },
    { name: 'one filter less', changed: { query: {} } },
    { name: 'another filter in the body', changed: { body: { kind: 'alert' } } },
  ])('is refused for $name', ({ changed }) => {
    expect(() => createListCursors(box, { ...asked, ...changed }).verify(PositionCursor, cursor)).toThrow(refused)
  })

  test('is refused once any character of it was changed', () => {
    for (let at = 0; at < cursor.length; at++) {
      const changed = cursor.slice(0, at) + (cursor[at] === 'A' ? 'B' : 'A') + cursor.slice(at + 1)
      expect(() => cursors.verify(PositionCursor, changed)).toThrow(refused)
    }
  })

  test.each(['', 'x', '%%%', '...', 'WzEsImEiXQ', 'v1.k1..', Buffer.from('[1,"a"]').toString('base64url')])(
    'that this API did not make is refused: "%s"',
    text => expect(() => cursors.verify(PositionCursor, text)).toThrow(refused),
  )

  test('is refused if its content is not that of the list', () => {
    const other = PositionCursor.extend({ before: PositionCursor.shape.at })
    expect(() => cursors.verify(other, cursor)).toThrow(refused)
  })

  test('is accepted by every replica while its key is in the ring, and refused afterwards', () => {
    const rotated = boxOf(key('k2', 2), key('k1', 1))
    expect(createListCursors(rotated, asked).verify(PositionCursor, cursor)).toEqual(place)
    const next = createListCursors(rotated, asked).sign(PositionCursor, place)
    expect(createListCursors(boxOf(key('k1', 1), key('k2', 2)), asked).verify(PositionCursor, next)).toEqual(place)
    const retired = createListCursors(boxOf(key('k2', 2)), asked)
    expect(() => retired.verify(PositionCursor, cursor)).toThrow(refused)
  })
})

describe('a page', () => {
  const items = [3, 2, 1].map(n => ({ at: new Date(n), id: `i${n}` }))
  const page = (limit: number) =>
    buildPage(
      items.slice(0, limit + 1),
      limit,
      item => `after ${item.id}`,
      item => item.id,
    )

  test('names the next page if there is one', () => {
    expect(page(2)).toEqual({ data: ['i3', 'i2'], next_cursor: 'after i2' })
  })

  test('names no next page on the last page, even if that page is full', () => {
    expect(page(3)).toEqual({ data: ['i3', 'i2', 'i1'], next_cursor: null })
  })
})
