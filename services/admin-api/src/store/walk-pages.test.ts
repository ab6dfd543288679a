import { expect, test } from 'vitest'
import { type PageWalk, walkPages } from './walk-pages.ts'

const numbers = Array.from({ length: 25 }, (_, index) => index)
const walkOf = (more: Partial<PageWalk<number, number>> = {}): PageWalk<number, number> => ({
  size: 10,
  read: async (after = -1, size) => numbers.slice(after + 1, after + 1 + size),
  placeOf: item => item,
  ...more,
})

async function pagesOf(walk: PageWalk<number, number>): Promise<(readonly number[])[]> {
  const pages: (readonly number[])[] = []
  for await (const page of walkPages(walk)) pages.push(page)
  return pages
}

test('reads every item once, in pages of the given sizes', async () => {
  const pages = await pagesOf(walkOf({ laterSize: 12 }))
  expect(pages.map(page => page.length)).toEqual([10, 12, 3])
  expect(pages.flat()).toEqual(numbers)
})

test('begins after a place', async () => {
  expect((await pagesOf(walkOf({ after: 19 }))).flat()).toEqual([20, 21, 22, 23, 24])
})

test.each([
  { name: 'the same page again', walk: walkOf({ read: async () => numbers.slice(0, 10) }) },
  { name: 'only items without a place', walk: walkOf({ placeOf: () => undefined }) },
  { name: 'a later page without a place', walk: walkOf({ placeOf: item => (item > 10 ? undefined : item) }) },
])('ends with an error if the list gives $name', async ({ walk }) => {
  await expect(pagesOf(walk)).rejects.toThrow('do not advance')
})

test('ends when the signal is aborted, although the list has no end', async () => {
  const client = new AbortController()
  let read = 0
  const endless = walkOf({
    signal: client.signal,
    async read(after = 0, size) {
      if (++read === 3) client.abort()
      return Array.from({ length: size }, (_, index) => after + index + 1)
    },
  })
  await expect(pagesOf(endless)).rejects.toMatchObject({ code: 'unavailable' })
  expect(read).toBe(3)
})

test('ends at the time limit, although the list has no end', async () => {
  const read: PageWalk<number, number>['read'] = async (after = 0, size) => {
    await new Promise(setImmediate)
    return Array.from({ length: size }, (_, index) => after + index + 1)
  }
  await expect(pagesOf(walkOf({ withinMs: 20, read }))).rejects.toMatchObject({ code: 'unavailable' })
})
