/** The input and output of one call. */

/** Options of every call. */
export interface RequestOptions {
  /** Aborts the call. */
  readonly signal?: AbortSignal
  /** Milliseconds for the whole call, including retries. Default: `timeoutMs` of the client. */
  readonly timeoutMs?: number
  /** Identifies a POST. By default the client makes one, and sends the same with every retry. */
  readonly idempotencyKey?: string
  /** The `version` that a PATCH is for. If the resource has changed since, the call fails with `precondition_failed`. */
  readonly ifVersion?: number
  /** Query parameters of a call that has a body. */
  readonly query?: Query
  readonly headers?: Readonly<Record<string, string>>
}

/** Query parameters. Undefined and null are left out; an array repeats its parameter. */
export type Query = Readonly<Record<string, unknown>>

/** The page of a list that a query asks for. */
export type Paging = {
  /** The largest number of items */
  limit?: number
  /** `next_cursor` of the previous page */
  cursor?: string
}

/** One page of a list. */
export interface Page<T> {
  data: T[]
  /** Null on the last page. */
  next_cursor: string | null
}

/** A list: await it for one page, or iterate over the items of all pages with `for await`. */
export interface PagedList<T> extends Promise<Page<T>>, AsyncIterable<T> {}

/** Makes a list from a function that reads one page. The first page is requested at once. */
export function createPagedList<T>(readPage: (cursor: string | undefined) => Promise<Page<T>>): PagedList<T> {
  const first = readPage(undefined)
  async function* items(): AsyncGenerator<T> {
    for (let page = await first; ; page = await readPage(page.next_cursor)) {
      yield* page.data
      if (page.next_cursor === null) return
    }
  }
  return Object.assign(first, { [Symbol.asyncIterator]: items })
}
