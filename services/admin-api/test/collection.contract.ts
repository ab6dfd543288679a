/** The behaviour of every collection. collection.test.ts runs it in memory, collection.integration-test.ts over MongoDB. */
import { describe, expect, test } from 'vitest'
import type { Collection } from '../src/store/collection.ts'

export interface Book {
  _id: string
  title: string
  tags: string[]
  hash: string
  lent_to: string | null
  sequel_of?: string
  made: Date
}

/** @param open returns a new, empty collection on which `hash` is unique */
export function describeCollection(name: string, open: () => Promise<Collection<Book>>): void {
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
    const collection = await open()
    for (const one of books) await collection.insert(one)
    return collection
  }
  const idsOf = (books: Book[]) => books.map(({ _id }) => _id)

  describe(`a collection in ${name}`, () => {
    test('returns exactly the stored documents', async () => {
      const collection = await filled(book('a', { tags: ['x'], lent_to: 'me' }))
      expect(await collection.find({ _id: 'a' })).toEqual(book('a', { tags: ['x'], lent_to: 'me' }))
      expect(await collection.find({ _id: 'b' })).toBeUndefined()
    })

    test('finds by equality, by null, by date, by an item of a list and by any of several', async () => {
      const collection = await filled(
        book('a', { tags: ['x', 'y'], made: new Date(1) }),
        book('b', { tags: ['y'], lent_to: 'me', made: new Date(2) }),
        book('c', { title: 'Other', made: new Date(3), sequel_of: 'a' }),
      )
      const found = async (where: Parameters<typeof collection.findAll>[0]) =>
        idsOf(await collection.findAll(where)).toSorted()
      expect(await found({})).toEqual(['a', 'b', 'c'])
      expect(await found({ title: 'Other' })).toEqual(['c'])
      expect(await found({ lent_to: null })).toEqual(['a', 'c'])
      expect(await found({ sequel_of: null })).toEqual(['a', 'b'])
      expect(await found({ made: new Date(2) })).toEqual(['b'])
      expect(await found({ tags: 'y' })).toEqual(['a', 'b'])
      expect(await found({ _id: { in: ['a', 'c', 'z'] } })).toEqual(['a', 'c'])
      expect(await found({ _id: { in: [] } })).toEqual([])
      expect(await found({ _id: { not: 'b' } })).toEqual(['a', 'c'])
      expect(await found({ lent_to: { not: 'me' } })).toEqual(['a', 'c'])
      expect(await found({ title: 'A title', lent_to: 'me' })).toEqual(['b'])
      // A condition with the value undefined matches every document.
      expect(await found({ title: undefined, lent_to: 'me' })).toEqual(['b'])
    })

    test('never reads a value as an operator', async () => {
      const collection = await filled(book('a'))
      expect(await collection.findAll({ title: { $ne: 'x' } as unknown as string })).toEqual([])
    })

    test('refuses a second document with the same id or the same unique field', async () => {
      const collection = await filled(book('a'))
      expect(await collection.insert(book('a', { hash: 'other' }))).toBe(false)
      expect(await collection.insert(book('b', { hash: 'hash-a' }))).toBe(false)
      expect(await collection.insert(book('b'))).toBe(true)
      expect(await collection.find({ _id: 'a' })).toEqual(book('a'))
    })

    test('replaces the document with the same id', async () => {
      const collection = await filled(book('a', { lent_to: 'me' }))
      await collection.put(book('a', { title: 'New' }))
      await collection.putAll([book('b')])
      await collection.putAll([])
      expect(await collection.find({ _id: 'a' })).toEqual(book('a', { title: 'New' }))
      expect(await collection.findAll({})).toHaveLength(2)
    })

    test('changes the matching document, and returns undefined if none matches', async () => {
      const collection = await filled(book('a'), book('b'))
      expect(await collection.change({ _id: 'a', lent_to: null }, { lent_to: 'me' })).toEqual(
        book('a', { lent_to: 'me' }),
      )
      expect(await collection.change({ _id: 'a', lent_to: null }, { lent_to: 'you' })).toBeUndefined()
      expect(await collection.find({ _id: 'b' })).toEqual(book('b'))
    })

    test('lets only one of many concurrent changes succeed', async () => {
      const collection = await filled(book('a'))
      const borrowers = Array.from({ length: 10 }, (_, i) => `reader ${i}`)
      const outcomes = await Promise.all(
        borrowers.map(reader => collection.change({ _id: 'a', lent_to: null }, { lent_to: reader })),
      )
      const winners = outcomes.filter(outcome => outcome !== undefined)
      expect(winners).toHaveLength(1)
      expect(await collection.find({ _id: 'a' })).toEqual(winners[0])
    })

    test('removes one matching document', async () => {
      const collection = await filled(book('a'), book('b'))
      await collection.remove({ _id: 'a', title: 'Other' })
      expect(await collection.findAll({})).toHaveLength(2)
      await collection.remove({ _id: 'a' })
      await collection.remove({ _id: 'a' })
      expect(idsOf(await collection.findAll({}))).toEqual(['b'])
    })

    test('pages newest first, by id at equal times, from any position', async () => {
      const collection = await filled(
        ...['a', 'b', 'c'].map(id => book(id, { made: new Date(1) })),
        ...['d', 'e'].map(id => book(id, { made: new Date(2) })),
        book('f', { made: new Date(3), title: 'Other' }),
      )
      const page = async (limit: number, after?: { at: Date; id: string }) =>
        idsOf(await collection.page({ where: { title: 'A title' }, by: 'made', after, limit }))
      expect(await page(10)).toEqual(['e', 'd', 'c', 'b', 'a'])
      expect(await page(2)).toEqual(['e', 'd'])
      expect(await page(2, { at: new Date(2), id: 'd' })).toEqual(['c', 'b'])
      expect(await page(2, { at: new Date(1), id: 'b' })).toEqual(['a'])
      // A page may begin after a document that was deleted.
      expect(await page(2, { at: new Date(1), id: 'bb' })).toEqual(['b', 'a'])
      const oldest = async (limit: number, after?: { at: Date; id: string }) =>
        idsOf(await collection.page({ where: { title: 'A title' }, by: 'made', oldestFirst: true, after, limit }))
      expect(await oldest(2)).toEqual(['a', 'b'])
      expect(await oldest(2, { at: new Date(1), id: 'b' })).toEqual(['c', 'd'])
      expect(await oldest(9, { at: new Date(1), id: 'bb' })).toEqual(['c', 'd', 'e'])
    })

    test('pages within a window: from its beginning on, and before its end', async () => {
      const collection = await filled(...[1, 2, 3, 4].map(at => book(`at ${at}`, { made: new Date(at) })))
      const page = async (window: { from?: Date; before?: Date }, after?: { at: Date; id: string }) =>
        idsOf(await collection.page({ where: {}, by: 'made', window, after, limit: 10 }))
      expect(await page({})).toEqual(['at 4', 'at 3', 'at 2', 'at 1'])
      expect(await page({ from: new Date(2) })).toEqual(['at 4', 'at 3', 'at 2'])
      expect(await page({ before: new Date(3) })).toEqual(['at 2', 'at 1'])
      expect(await page({ from: new Date(2), before: new Date(4) })).toEqual(['at 3', 'at 2'])
      expect(await page({ from: new Date(2) }, { at: new Date(3), id: 'at 3' })).toEqual(['at 2'])
    })

    test('leaves out documents that are larger than a limit', async () => {
      const collection = await filled(book('small'), book('large', { title: 'x'.repeat(2_000) }))
      expect(idsOf(await collection.page({ where: {}, by: 'made', limit: 10, maxBytes: 1_000 }))).toEqual(['small'])
      expect(await collection.page({ where: {}, by: 'made', limit: 10, maxBytes: 3_000 })).toHaveLength(2)
    })

    test('reads fields of all matching documents in batches', async () => {
      const books = Array.from({ length: 1_100 }, (_, i) => book(`book ${i}`, { tags: [String(i)] }))
      const collection = await filled(book('other', { title: 'Other' }))
      await Promise.all(books.map(one => collection.insert(one)))
      const batches: { _id: string; tags: string[] }[][] = []
      for await (const batch of collection.batches({ title: 'A title' }, ['tags'])) batches.push([...batch])
      expect(Math.max(...batches.map(({ length }) => length))).toBeLessThanOrEqual(1_000)
      const read = batches.flat().toSorted((a, b) => Number(a.tags[0]) - Number(b.tags[0]))
      expect(read).toEqual(books.map(({ _id, tags }) => ({ _id, tags })))
      const ends = collection.batches({ title: 'None' }, [])[Symbol.asyncIterator]()
      expect(await ends.next()).toEqual({ done: true, value: undefined })
    })

    test('stores copies: changing a stored or found object changes nothing', async () => {
      const given = book('a')
      const collection = await filled(given)
      given.title = 'changed'
      const found = await collection.find({ _id: 'a' })
      if (found) found.title = 'changed'
      expect(await collection.find({ _id: 'a' })).toEqual(book('a'))
    })
  })
}
