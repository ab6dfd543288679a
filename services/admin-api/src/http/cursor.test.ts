import { describe, expect, test } from 'vitest'
import { buildPage, decodeCursor, encodeCursor } from './cursor.ts'

const place = { at: new Date('2026-11-21T10:00:00.123Z'), id: 'act_1' }

describe('a cursor', () => {
  test('leads back to its place', () => {
    expect(decodeCursor(encodeCursor(place))).toEqual(place)
    expect(decodeCursor(undefined)).toBeUndefined()
  })

  test.each([
    '',
    'x',
    'bnVsbA',
    'W10',
    'WyJhIiwiYiJd',
    'WzEsMl0',
    'WzEsImEiLDNd',
    'Wzg2NDAwMDAwMDAwMDAwMDEsImEiXQ',
    '%%%',
    encodeCursor(place).slice(3),
  ])('that is none of ours is refused: "%s"', text => {
    expect(() => decodeCursor(text)).toThrow(expect.objectContaining({ code: 'invalid_request' }))
  })
})

describe('a page', () => {
  const items = [3, 2, 1].map(n => ({ at: new Date(n), id: `i${n}` }))
  const page = (limit: number) =>
    buildPage(
      items.slice(0, limit + 1),
      limit,
      item => item,
      item => item.id,
    )

  test('names the next page if there is one', () => {
    expect(page(2)).toEqual({ data: ['i3', 'i2'], next_cursor: encodeCursor({ at: new Date(2), id: 'i2' }) })
  })

  test('names no next page on the last page, even if that page is full', () => {
    expect(page(3)).toEqual({ data: ['i3', 'i2', 'i1'], next_cursor: null })
  })
})
