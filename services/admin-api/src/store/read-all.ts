import type { PageRequest, ReadCollection, StoredDocument } from './collection.ts'

const PAGE_SIZE = 500

/** Reads all pages of a list, newest first. */
export async function readAll<D extends StoredDocument>(
  collection: Pick<ReadCollection<D>, 'page'>,
  request: Omit<PageRequest<D>, 'after' | 'limit'>,
): Promise<D[]> {
  const all: D[] = []
  let after: PageRequest<D>['after']
  while (true) {
    const page = await collection.page({ ...request, after, limit: PAGE_SIZE })
    all.push(...page)
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE_SIZE) return all
    after = { at: last[request.by] as Date, id: last._id }
  }
}
