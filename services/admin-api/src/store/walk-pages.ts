import { AppError } from '@backstop/kit/errors'
import type { PageRequest, ReadCollection, StoredDocument } from './collection.ts'

/** A list that is read page by page. */
export interface PageWalk<Item, Place> {
  /** Where the first page begins; undefined for the beginning of the list. */
  readonly after?: Place | undefined
  /** Items of a page. A shorter page is the last one. */
  readonly size: number
  /** Items of every page after the first. Default: `size`. */
  readonly laterSize?: number
  /** Ends the walk, for example when the caller of a request disconnects. */
  readonly signal?: AbortSignal | undefined
  /** The longest time for all pages, in milliseconds. Default: no limit. */
  readonly withinMs?: number
  /** Reads at most `size` items after a place. */
  read(after: Place | undefined, size: number): Promise<readonly Item[]>
  placeOf(item: Item): Place | undefined
}

/**
 * Reads a list page by page. Every loop over pages uses it, because it always ends: with the last page, with the signal, or at the time
 * limit. A page that leads to no new place is a bug of the list, and ends the walk too.
 * @throws AppError `unavailable` at the time limit, and when the signal is aborted; any error of `read`
 */
export async function* walkPages<Item, Place>(walk: PageWalk<Item, Place>): AsyncGenerator<readonly Item[], undefined> {
  const { signal, withinMs = Number.POSITIVE_INFINITY, read, placeOf } = walk
  const beganAt = performance.now()
  let place = walk.after
  for (let { size } = walk; ; size = walk.laterSize ?? size) {
    stopIfAborted(signal)
    if (performance.now() - beganAt > withinMs) {
      const message = 'The list takes too long; narrow it, for example to a project, a connection or a shorter time'
      throw new AppError('unavailable', message, { retryable: true })
    }
    const items = await read(place, size)
    yield items
    const last = items.at(-1)
    if (last === undefined || items.length < size) return undefined
    const next = placeOf(last)
    if (next === undefined || JSON.stringify(next) === JSON.stringify(place))
      throw new Error('The pages of a list do not advance')
    place = next
  }
}

/** Ends a loop over pages whose caller disconnected. @throws AppError `unavailable` if the signal is aborted */
export function stopIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new AppError('unavailable', 'The request ended before everything was read')
}

const PAGE_SIZE = 500

/** Reads all pages of a list, newest first. */
export async function readAll<D extends StoredDocument>(
  collection: Pick<ReadCollection<D>, 'page'>,
  request: Omit<PageRequest<D>, 'after' | 'limit'>,
): Promise<D[]> {
  const all: D[] = []
  const pages = walkPages<D, NonNullable<PageRequest<D>['after']>>({
    size: PAGE_SIZE,
    read: (after, limit) => collection.page({ ...request, after, limit }),
    placeOf: document => ({ at: document[request.by] as Date, id: document._id }),
  })
  for await (const page of pages) all.push(...page)
  return all
}
