import type { AnyBulkWriteOperation, Document } from 'mongodb'

/** What an update makes of its document. Values are taken as they are: nothing in them is an expression. */
export interface Change {
  readonly set: Readonly<Document>
  /** By the name of an array, what is added at its end; an array that is not there is made. */
  readonly append?: Readonly<Record<string, readonly unknown[]>>
}

/**
 * One update of a bulk write, that changes a document only if `condition` holds of it, in the same moment: a compare-and-set.
 * The document is named by its id alone and the condition stands inside. A filter that names both is planned like a query,
 * which costs the server more than the update itself (docs/benchmarks.md).
 *
 * A document of which the condition does not hold is matched and not modified: `modifiedCount` of the result tells how many
 * were changed, `matchedCount` does not. For that, what `set` writes to a field that `condition` rests on has to end that condition:
 * the next version, the next attempt.
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
