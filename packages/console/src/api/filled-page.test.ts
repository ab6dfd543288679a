import { expect, test } from 'vitest'
import { filledPage } from './filled-page.ts'

const PAGES: Record<string, { data: string[]; next_cursor: string | null }> = {
  first: { data: [], next_cursor: 'second' },
  second: { data: [], next_cursor: 'third' },
  third: { data: ['found'], next_cursor: 'fourth' },
  fourth: { data: [], next_cursor: null },
}

async function readFrom(cursor?: string) {
  const asked: string[] = []
  const page = await filledPage(async (at = 'first') => {
    asked.push(at)
    return PAGES[at] ?? expect.unreachable()
  }, cursor)
  return { asked, page }
}

test('pages without an item are passed over, up to the first page with one', async () => {
  expect(await readFrom()).toEqual({ asked: ['first', 'second', 'third'], page: PAGES.third })
})

test('a list ends with an empty page only if no page follows', async () => {
  expect(await readFrom('fourth')).toEqual({ asked: ['fourth'], page: PAGES.fourth })
})
