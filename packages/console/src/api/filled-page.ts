import type { Page } from '@backstop/client'

/** The first page that has an item, or the last page. A page is empty in the middle of a list if all its items were left out. */
export async function filledPage<T>(read: (cursor?: string) => Promise<Page<T>>, cursor?: string): Promise<Page<T>> {
  const page = await read(cursor)
  return page.data.length > 0 || page.next_cursor === null ? page : filledPage(read, page.next_cursor)
}
