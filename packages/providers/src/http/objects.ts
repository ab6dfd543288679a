import { fieldAt, isUsableId } from '../event-fields.ts'
import type { ApiClient, Budget, Query } from './api-client.ts'
import { type Failed, failed } from './failure.ts'

/** An object of a provider, with its id where every object has it. */
export type ProviderObject = Readonly<Record<string, unknown>> & { readonly id: string }

/** A list of one type of object. */
export interface List {
  /** The provider's own name. */
  readonly type: string
  readonly path: string
  readonly query: Query
}

/** One page of a list. */
export interface Page {
  readonly kind: 'page'
  readonly items: readonly ProviderObject[]
  /** Where the next page begins, in the provider's own terms; null after the last one. */
  readonly next: string | null
}

type Missing = { readonly kind: 'missing' }

/** Pages of one list that belongs to one payment: far more than any has. */
const MOST_PAGES = 10

/** Reads one object by its id. */
export async function readOne(
  client: ApiClient,
  type: string,
  path: string,
  id: string,
  budget: Budget,
): Promise<{ readonly kind: 'object'; readonly object: ProviderObject } | Missing | Failed> {
  const answer = await client.get(`${path}/${encodeURIComponent(id)}`, {}, budget)
  if (answer.kind !== 'answered') return answer
  const object = client.dialect.objectIn(answer.body, type)
  return isProviderObject(object) && object.id === id
    ? { kind: 'object', object }
    : failed('answer_malformed', client.dialect.name, `not the ${type} that was asked for`)
}

/**
 * Reads one page of a list.
 * @param page where it begins; null for the first
 */
export async function readPage(
  client: ApiClient,
  { type, path, query }: List,
  page: string | null,
  budget: Budget,
): Promise<Page | Missing | Failed> {
  const { dialect } = client
  const answer = await client.get(path, page === null ? query : { ...query, ...dialect.pageQuery(page) }, budget)
  if (answer.kind !== 'answered') return answer
  const { items, next } = dialect.pageIn(answer.body, type)
  const isPage = Array.isArray(items) && items.every(isProviderObject) && (next === null || typeof next === 'string')
  // A page that leads to itself would be read for ever.
  return isPage && (next === null || next !== page)
    ? { kind: 'page', items, next }
    : failed('answer_malformed', dialect.name, `no list of type ${type}`)
}

/** Reads all of a short list, such as the refunds of one payment. An empty one is as good as missing. */
export async function readWhole(
  client: ApiClient,
  list: List,
  budget: Budget,
): Promise<{ readonly kind: 'objects'; readonly objects: readonly ProviderObject[] } | Missing | Failed> {
  const objects: ProviderObject[] = []
  let from: string | null = null
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const page: Page | Missing | Failed = await readPage(client, list, from, budget)
    if (page.kind !== 'page') return page
    objects.push(...page.items)
    if (page.next === null) return objects.length === 0 ? { kind: 'missing' } : { kind: 'objects', objects }
    from = page.next
  }
  return failed('answer_malformed', client.dialect.name, 'a list without end')
}

function isProviderObject(value: unknown): value is ProviderObject {
  return isUsableId(fieldAt(value, 'id'))
}
