import type { Collection, Document, OptionalUnlessRequiredId } from 'mongodb'
import { joinItems } from '../join-calls.ts'
import { writeIgnoringDuplicates } from './duplicate-keys.ts'
import { asUnavailable } from './mongo.ts'

/**
 * How many joint commands of one kind a process has at MongoDB at a time. Further calls gather meanwhile, so the more calls there are, the
 * more of them share a command. Two, because one may wait long, for example for a document in the transaction of a killed process.
 */
export const JOINT_RUNS = { maxRuns: 2 } as const

/**
 * Finds documents by a unique value. Concurrent calls share one command, and calls for the same value the same document.
 * @param read returns the documents with any of the values
 * @param valueIn the value of a document
 * @returns undefined for a value that no document has
 */
export function joinFinds<V, D>(
  read: (values: readonly V[]) => Promise<readonly D[]>,
  valueIn: (document: D) => V,
): (value: V) => Promise<D | undefined> {
  return joinItems(async (values: readonly V[]) => {
    const found = await read([...new Set(values)])
    const byValue = new Map(found.map(document => [valueIn(document), document]))
    return values.map(value => byValue.get(value))
  }, JOINT_RUNS)
}

/**
 * Inserts documents. Concurrent calls share one command.
 * @returns false for a document that a unique index refused
 * @throws AppError `unavailable`
 */
export function joinInserts<D extends Document>(collection: Collection<D>): (document: D) => Promise<boolean> {
  return joinItems(
    (documents: readonly D[]) =>
      asUnavailable(async () => {
        const some = documents as readonly OptionalUnlessRequiredId<D>[]
        const write = () => collection.insertMany(some, { ordered: false })
        const refused = new Set(await writeIgnoringDuplicates(write, documents.length))
        return documents.map((_, index) => !refused.has(index))
      }),
    JOINT_RUNS,
  )
}
