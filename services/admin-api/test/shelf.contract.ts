/** What every shelf keeps: run by shelf.test.ts (memory) and shelf.integration-test.ts (MongoDB). */
import { describe, expect, test } from 'vitest'
import type { Shelf } from '../src/store/shelf.ts'

export interface Book {
  _id: string
  title: string
  tags: string[]
  hash: string
  lent_to: string | null
  sequel_of?: string
  made: Date
}

/** @param open a new, empty shelf on which `hash` is unique */
export function describeShelf(name: string, open: () => Promise<Shelf<Book>>): void {
  const book = (id: string, more: Partial<Book> = {}): Book => ({
    _id: id,
    title: 'A title',
    tags: [],
    hash: `hash-${id}`,
    lent_to: null,
    made: new Date(1_000),
    ...more,
  })
  const filled = async (...books: Book[]) => {
    const shelf = await open()
    for (const one of books) await shelf.insert(one)
    return shelf
  }
  const idsOf = (books: Book[]) => books.map(({ _id }) => _id)

  describe(`a shelf in ${name}`, () => {
    test('gives back what was put on it, and nothing else', async () => {
      const shelf = await filled(book('a', { tags: ['x'], lent_to: 'me' }))
      expect(await shelf.find({ _id: 'a' })).toEqual(book('a', { tags: ['x'], lent_to: 'me' }))
      expect(await shelf.find({ _id: 'b' })).toBeUndefined()
    })

    test('finds by equality, by null, by date, by an item of a list and by any of several', async () => {
      const shelf = await filled(
        book('a', { tags: ['x', 'y'], made: new Date(1) }),
        book('b', { tags: ['y'], lent_to: 'me', made: new Date(2) }),
        book('c', { title: 'Other', made: new Date(3), sequel_of: 'a' }),
      )
      const found = async (where: Parameters<typeof shelf.findAll>[0]) => idsOf(await shelf.findAll(where)).toSorted()
      expect(await found({})).toEqual(['a', 'b', 'c'])
      expect(await found({ title: 'Other' })).toEqual(['c'])
      expect(await found({ lent_to: null })).toEqual(['a', 'c'])
      expect(await found({ sequel_of: null })).toEqual(['a', 'b'])
      expect(await found({ made: new Date(2) })).toEqual(['b'])
      expect(await found({ tags: 'y' })).toEqual(['a', 'b'])
      expect(await found({ _id: { in: ['a', 'c', 'z'] } })).toEqual(['a', 'c'])
      expect(await found({ _id: { in: [] } })).toEqual([])
      expect(await found({ title: 'A title', lent_to: 'me' })).toEqual(['b'])
      // A field that is named and undefined narrows nothing.
      expect(await found({ title: undefined, lent_to: 'me' })).toEqual(['b'])
    })

    test('never takes a value for an operator', async () => {
      const shelf = await filled(book('a'))
      expect(await shelf.findAll({ title: { $ne: 'x' } as unknown as string })).toEqual([])
    })

    test('refuses a second document with the same id or the same unique field', async () => {
      const shelf = await filled(book('a'))
      expect(await shelf.insert(book('a', { hash: 'other' }))).toBe(false)
      expect(await shelf.insert(book('b', { hash: 'hash-a' }))).toBe(false)
      expect(await shelf.insert(book('b'))).toBe(true)
      expect(await shelf.find({ _id: 'a' })).toEqual(book('a'))
    })

    test('puts a document in place of the one with its id', async () => {
      const shelf = await filled(book('a', { lent_to: 'me' }))
      await shelf.put(book('a', { title: 'New' }))
      await shelf.put(book('b'))
      expect(await shelf.find({ _id: 'a' })).toEqual(book('a', { title: 'New' }))
      expect(await shelf.findAll({})).toHaveLength(2)
    })

    test('changes the document that matches, and tells when none did', async () => {
      const shelf = await filled(book('a'), book('b'))
      expect(await shelf.change({ _id: 'a', lent_to: null }, { lent_to: 'me' })).toEqual(book('a', { lent_to: 'me' }))
      expect(await shelf.change({ _id: 'a', lent_to: null }, { lent_to: 'you' })).toBeUndefined()
      expect(await shelf.find({ _id: 'b' })).toEqual(book('b'))
    })

    test('lets one of many changes at once win', async () => {
      const shelf = await filled(book('a'))
      const borrowers = Array.from({ length: 10 }, (_, i) => `reader ${i}`)
      const outcomes = await Promise.all(
        borrowers.map(reader => shelf.change({ _id: 'a', lent_to: null }, { lent_to: reader })),
      )
      const winners = outcomes.filter(outcome => outcome !== undefined)
      expect(winners).toHaveLength(1)
      expect(await shelf.find({ _id: 'a' })).toEqual(winners[0])
    })

    test('removes what matches, once', async () => {
      const shelf = await filled(book('a'), book('b'))
      await shelf.remove({ _id: 'a', title: 'Other' })
      expect(await shelf.findAll({})).toHaveLength(2)
      await shelf.remove({ _id: 'a' })
      await shelf.remove({ _id: 'a' })
      expect(idsOf(await shelf.findAll({}))).toEqual(['b'])
    })

    test('pages newest first, by id within one moment, from any place on', async () => {
      const shelf = await filled(
        ...['a', 'b', 'c'].map(id => book(id, { made: new Date(1) })),
        ...['d', 'e'].map(id => book(id, { made: new Date(2) })),
        book('f', { made: new Date(3), title: 'Other' }),
      )
      const page = async (limit: number, after?: { at: Date; id: string }) =>
        idsOf(await shelf.page({ where: { title: 'A title' }, by: 'made', after, limit }))
      expect(await page(10)).toEqual(['e', 'd', 'c', 'b', 'a'])
      expect(await page(2)).toEqual(['e', 'd'])
      expect(await page(2, { at: new Date(2), id: 'd' })).toEqual(['c', 'b'])
      expect(await page(2, { at: new Date(1), id: 'b' })).toEqual(['a'])
      // A place whose item is gone still leads on.
      expect(await page(2, { at: new Date(1), id: 'bb' })).toEqual(['b', 'a'])
    })

    test('pages within a window: from its beginning on, and before its end', async () => {
      const shelf = await filled(...[1, 2, 3, 4].map(at => book(`at ${at}`, { made: new Date(at) })))
      const page = async (window: { from?: Date; before?: Date }, after?: { at: Date; id: string }) =>
        idsOf(await shelf.page({ where: {}, by: 'made', window, after, limit: 10 }))
      expect(await page({})).toEqual(['at 4', 'at 3', 'at 2', 'at 1'])
      expect(await page({ from: new Date(2) })).toEqual(['at 4', 'at 3', 'at 2'])
      expect(await page({ before: new Date(3) })).toEqual(['at 2', 'at 1'])
      expect(await page({ from: new Date(2), before: new Date(4) })).toEqual(['at 3', 'at 2'])
      expect(await page({ from: new Date(2) }, { at: new Date(3), id: 'at 3' })).toEqual(['at 2'])
    })

    test('keeps documents of its own: changing what was given or found changes nothing', async () => {
      const given = book('a')
      const shelf = await filled(given)
      given.title = 'changed'
      const found = await shelf.find({ _id: 'a' })
      if (found) found.title = 'changed'
      expect(await shelf.find({ _id: 'a' })).toEqual(book('a'))
    })
  })
}
