import { MongoBulkWriteError, MongoServerError } from 'mongodb'
import { DUPLICATE_KEY } from './mongo.ts'

/** Whether a unique index refused the document: for an insert by a deterministic id, it is already stored. */
export function isDuplicateKey(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === DUPLICATE_KEY
}

/**
 * The indexes of the writes that a unique index refused in an unordered bulk write.
 * @throws `error` itself when it is no failure of a bulk write, or when any write failed for another reason
 */
export function duplicateIndexes(error: unknown): readonly number[] {
  if (!(error instanceof MongoBulkWriteError)) throw error
  const failures = Array.isArray(error.writeErrors) ? error.writeErrors : [error.writeErrors]
  if (failures.length === 0 || failures.some(failure => failure.code !== DUPLICATE_KEY)) throw error
  return failures.map(failure => failure.index)
}

/**
 * Runs an unordered write of many documents in which "already stored" is no failure.
 * @param count how many documents it writes; with none, nothing is run
 * @returns the indexes of the documents that are already stored
 * @throws the driver's error when a document was refused for another reason
 */
export async function onlyDuplicates(write: () => Promise<unknown>, count: number): Promise<readonly number[]> {
  if (count === 0) return []
  try {
    await write()
    return []
  } catch (error) {
    return duplicateIndexes(error)
  }
}
