import { MongoBulkWriteError } from 'mongodb'
import { DUPLICATE_KEY } from './mongo.ts'

/**
 * Runs an unordered write of many documents in which "already there" is no failure.
 * @param count how many documents it writes; with none, nothing is run
 * @returns the indexes of those that were refused as duplicates
 * @throws the driver's error when anything else was refused
 */
export async function onlyDuplicates(write: () => Promise<unknown>, count: number): Promise<readonly number[]> {
  if (count === 0) return []
  try {
    await write()
    return []
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError)) throw error
    const failures = Array.isArray(error.writeErrors) ? error.writeErrors : [error.writeErrors]
    if (failures.length === 0 || failures.some(failure => failure.code !== DUPLICATE_KEY)) throw error
    return failures.map(failure => failure.index)
  }
}
