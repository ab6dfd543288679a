import { MongoBulkWriteError, MongoServerError } from 'mongodb'
import { DUPLICATE_KEY } from './mongo.ts'

/**
 * True if a unique index refused the document. For an insert with a deterministic id it means that the document is
 * already stored.
 */
export function isDuplicateKey(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === DUPLICATE_KEY
}

/**
 * The indexes of the writes that a unique index refused in an unordered bulk write.
 * @throws `error` itself if it is not a bulk write error, or if any write failed for another reason
 */
export function duplicateIndexes(error: unknown): readonly number[] {
  if (!(error instanceof MongoBulkWriteError)) throw error
  const failures = Array.isArray(error.writeErrors) ? error.writeErrors : [error.writeErrors]
  if (failures.length === 0 || failures.some(failure => failure.code !== DUPLICATE_KEY)) throw error
  return failures.map(failure => failure.index)
}

/**
 * Runs an unordered write of many documents in which "already stored" is not an error.
 * @param count number of documents; the write is skipped if 0
 * @returns the indexes of the documents that are already stored
 * @throws the driver's error if a document was refused for another reason
 */
export async function writeIgnoringDuplicates(
  write: () => Promise<unknown>,
  count: number,
): Promise<readonly number[]> {
  if (count === 0) return []
  try {
    await write()
    return []
  } catch (error) {
    return duplicateIndexes(error)
  }
}
