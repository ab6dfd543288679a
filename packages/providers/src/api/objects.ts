import { isProviderId, type ReadObject } from '@backstop/contracts'
import { fieldAt } from '../event-fields.ts'
import type { ApiClient, Budget, Query } from './api-client.ts'
import { type Failed, failed } from './failure.ts'

/** An object of a provider with its id. */
export type ProviderObject = Readonly<Record<string, unknown>> & { readonly id: string }

/** A list of one type of object. */
export interface List {
  /** The provider's name of the object type. */
  readonly type: string
  readonly path: string
  readonly query: Query
}

/** One page of a list. */
export interface Page {
  readonly kind: 'page'
  readonly items: readonly ProviderObject[]
  /** The items without a usable id, each with its fault. */
  readonly unusable: readonly ReadObject[]
  /** The start of the next page in the provider's terms; null after the last one. */
  readonly next: string | null
}

export type Missing = { readonly kind: 'missing' }

export interface OneObject {
  readonly kind: 'object'
  readonly object: ProviderObject
}

/** The items of all pages of a list. */
export interface WholeList {
  readonly kind: 'objects'
  readonly objects: readonly ProviderObject[]
  readonly unusable: readonly ReadObject[]
}

/** The largest number of pages of one payment's list. No real payment has nearly as many. */
const MOST_PAGES = 10

/** True for `.` and `..`, which cannot be a path segment, because URLs resolve them: `/refunds/..` is `/`. */
export function isDotSegment(id: string): boolean {
  return id === '.' || id === '..'
}

/** Gives objects their type, as they are reported. */
export function asType(type: string): (body: ProviderObject) => ReadObject {
  return body => ({ type, body })
}

/** Reads one object by its id. @param query the parts of the object that the provider adds on request */
export async function readOne(
  client: ApiClient,
  type: string,
  path: string,
  id: string,
  budget: Budget,
  query: Query = {},
): Promise<OneObject | Missing | Failed> {
  if (isDotSegment(id)) return failed('question_refused', client.dialect.name, 'an id of dots cannot stand in a path')
  const answer = await client.get(`${path}/${encodeURIComponent(id)}`, query, budget)
  if (answer.kind !== 'answered') return answer
  const object = client.dialect.objectIn(answer.body, type)
  return isProviderObject(object) && object.id === id
    ? { kind: 'object', object }
    : failed('answer_malformed', client.dialect.name, `not the ${type} that was asked for`)
}

/**
 * Reads one page of a list.
 * @param page the start of the page; null for the first page
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
  // A page that names itself as the next page would be read for ever.
  const isNextValid = next === null || (typeof next === 'string' && next !== page)
  if (!Array.isArray(items) || !isNextValid) return failed('answer_malformed', dialect.name, `no list of type ${type}`)
  const unusable = items.filter(item => !isProviderObject(item)).map(item => unusableItem(type, item, NO_USABLE_ID))
  return { kind: 'page', items: items.filter(isProviderObject), unusable, next }
}

/** The fault of an item whose id is missing or invalid. */
export const NO_USABLE_ID = 'it has no usable id'

/**
 * Reports an unusable item unchanged, with its fault. The item is dead-lettered later, and the rest of its list is used.
 * @param fault completes "the item cannot be used: …"
 */
export function unusableItem(type: string, item: unknown, fault: string): ReadObject {
  const isObject = typeof item === 'object' && item !== null && !Array.isArray(item)
  return { type, body: isObject ? { ...item } : { item: item ?? null }, fault }
}

/**
 * The last id of a page, after which the next page begins. The item itself may be unusable, because only its position in the list
 * matters.
 */
export function lastIdIn(items: unknown): string | undefined {
  if (!Array.isArray(items)) return undefined
  const ids: unknown[] = items.map(item => fieldAt(item, 'id'))
  return ids.findLast((id): id is string => typeof id === 'string' && id !== '' && id.isWellFormed())
}

/** Reads a short list completely, such as the refunds of one payment. An empty list counts as missing. */
export async function readWhole(client: ApiClient, list: List, budget: Budget): Promise<WholeList | Missing | Failed> {
  const objects: ProviderObject[] = []
  const unusable: ReadObject[] = []
  let from: string | null = null
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const page: Page | Missing | Failed = await readPage(client, list, from, budget)
    if (page.kind !== 'page') return page
    objects.push(...page.items)
    unusable.push(...page.unusable)
    if (page.next === null) {
      return objects.length + unusable.length === 0 ? { kind: 'missing' } : { kind: 'objects', objects, unusable }
    }
    from = page.next
  }
  return failed('answer_malformed', client.dialect.name, 'a list without end')
}

/** True if the item is an object with a usable id. */
export function isProviderObject(value: unknown): value is ProviderObject {
  return isProviderId(fieldAt(value, 'id'))
}
