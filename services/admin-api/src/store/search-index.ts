import { type ActionDocument, markOfKey, type OperationDocument, textOfKey } from '@backstop/contracts'

/** Where a page of results begins: after this key of this document. */
export interface SearchPosition {
  /** As it is stored, with its month. */
  readonly key: string
  readonly at: Date
  readonly id: string
}

export interface SearchRequest {
  readonly projectId: string
  /** The beginning of a key, normalised. */
  readonly prefix: string
  readonly after: SearchPosition | undefined
  readonly limit: number
  /** Milliseconds since the epoch. */
  readonly now: number
  /** Ends the search when the caller disconnects. */
  readonly signal: AbortSignal
}

/**
 * Documents with a key that begins with a prefix. Those with the prefix itself as key come first, the newest of them first. Then come longer
 * keys: the newest month first, and in a month in the order of the keys.
 */
export interface SearchIndex {
  actions(request: SearchRequest): Promise<ActionDocument[]>
  operations(request: SearchRequest): Promise<FoundOperation[]>
  /** The incidents of the actions with such keys. */
  incidentIds(request: Omit<SearchRequest, 'after' | 'signal'>): Promise<string[]>
  /** The ids of the newest operation of each of these runs. */
  newestOfRuns(projectId: string, runIds: readonly string[]): Promise<ReadonlySet<string>>
}

/** An operation without the fields of the ledger. */
export type FoundOperation = Omit<OperationDocument, 'outbox' | 'outbox_at' | 'timer_at'>

interface SearchedDocument {
  readonly _id: string
  readonly search?: readonly string[]
}

/**
 * The first key of a document that begins with a prefix and comes after a position. Undefined if there is none.
 * @param at the date that sorts the documents of one key, newest first
 */
export function foundKey(
  { _id, search = [] }: SearchedDocument,
  at: Date,
  prefix: string,
  after?: SearchPosition,
): string | undefined {
  const isAfter = (key: string) => {
    if (after === undefined) return true
    const order = compareKeys(key, after.key, prefix)
    if (order !== 0) return order > 0
    const age = at.getTime() - after.at.getTime()
    return age < 0 || (age === 0 && compareAsStored(_id, after.id) < 0)
  }
  return search
    .filter(key => textOfKey(key).startsWith(prefix) && isAfter(key))
    .toSorted((one, other) => compareKeys(one, other, prefix))[0]
}

/** Equal keys of several months are one key: their documents are in the order of their dates. */
function compareKeys(one: string, other: string, prefix: string): number {
  const isLonger = (key: string) => Number(textOfKey(key) !== prefix)
  const hasNoMonth = (key: string) => Number(markOfKey(key) === '')
  if (isLonger(one) === 0 || isLonger(other) === 0) return isLonger(one) - isLonger(other)
  return hasNoMonth(one) - hasNoMonth(other) || compareAsStored(one, other)
}

/** MongoDB orders text by its bytes in UTF-8. JavaScript orders it by UTF-16, where an emoji comes before U+FFFD. */
function compareAsStored(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other))
}
