import type { AnyBulkWriteOperation, Document } from 'mongodb'

/** The changes of a document. Values are literals, never expressions. */
export interface Change {
  readonly set: Readonly<Document>
  /** Values to append, by the name of the array. A missing array is created. */
  readonly append?: Readonly<Record<string, readonly unknown[]>>
}

/**
 * One update of a bulk write that changes a document only if `condition` holds: a compare-and-set. The filter is the id
 * alone, and the condition is part of the update, because the server would plan a filter with both like a query, which
 * costs more than the update (docs/performance.md).
 * | A document that does not meet the condition is matched but not modified, so count changes by `modifiedCount`, not
 * by `matchedCount`. `set` must change a field of the condition so that the condition no longer holds (the next
 * version, the next attempt).
 * @param condition an aggregation expression over the document, e.g. `{ $eq: ['$version', 3] }`
 */
export function updateIf<T extends Document>(
  id: string,
  condition: Readonly<Document>,
  { set, append = {} }: Change,
): AnyBulkWriteOperation<T> {
  const longer = Object.entries(append).map(([name, added]) => [
    name,
    { $concatArrays: [{ $ifNull: [`$${name}`, []] }, { $literal: added }] },
  ])
  const changed = { $mergeObjects: ['$$ROOT', { $literal: set }, Object.fromEntries(longer)] }
  const update = [{ $replaceWith: { $cond: [condition, changed, '$$ROOT'] } }]
  return { updateOne: { filter: { _id: id }, update } } as unknown as AnyBulkWriteOperation<T>
}
