import { COLLECTIONS, type CollectionDefinition, type CollectionName } from '@backstop/contracts'
import { AppError, asUnavailable } from '@backstop/kit'
import type { Db } from 'mongodb'
import type { Report } from './report.ts'

/** Server codes for "the collection already exists" and "an index with that name or those keys differs". */
const NAMESPACE_EXISTS = 48
const INDEX_CONFLICTS = new Set([85, 86])

/**
 * Creates every collection (change streams and transactions need existing collections) and its indexes.
 * @throws AppError `conflict` with one line per index that exists in another form
 */
export async function provisionCollections(db: Db, report: Report): Promise<void> {
  const conflicts: string[] = []
  for (const [name, definition] of Object.entries(COLLECTIONS) as [CollectionName, CollectionDefinition][]) {
    await asUnavailable(() => db.createCollection(name)).catch(ignoreCode(NAMESPACE_EXISTS))
    for (const { keys, options } of definition.indexes) {
      try {
        await asUnavailable(() => db.collection(name).createIndex(keys, options ?? {}))
      } catch (error) {
        if (!INDEX_CONFLICTS.has(codeOf(error))) throw error
        conflicts.push(`${name} ${JSON.stringify(keys)}: ${(error as Error).message}`)
      }
    }
  }
  if (conflicts.length > 0) {
    const list = conflicts.join('\n  ')
    throw new AppError('conflict', `${conflicts.length} index(es) exist in another form; drop them first:\n  ${list}`)
  }
  report(`collections: all ${Object.keys(COLLECTIONS).length} are there with their indexes`)
}

function codeOf(error: unknown): number {
  return Number((error as { code?: unknown }).code)
}

function ignoreCode(code: number): (error: unknown) => void {
  return error => {
    if (codeOf(error) !== code) throw error
  }
}
