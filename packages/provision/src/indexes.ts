import { COLLECTIONS, type CollectionDefinition, type CollectionName, LARGE_COLLECTION } from '@backstop/contracts'
import { AppError } from '@backstop/kit/errors'
import { asUnavailable, isDuplicateKey } from '@backstop/kit/mongo'
import type { Db } from 'mongodb'
import { type Duplicates, findDuplicates } from './duplicates/resolve-duplicates.ts'
import type { Report } from './report.ts'

/** Server codes for "the collection already exists" and "an index with that name or those keys differs". */
const NAMESPACE_EXISTS = 48
const INDEX_CONFLICTS = new Set([85, 86])
/** An index on five million documents takes more than ten seconds, even on a fast disk. The build waits while a secondary is unavailable. */
const REPORT_EVERY_MS = 10_000

/**
 * Creates every collection (change streams and transactions need existing collections) and its indexes.
 * @throws AppError `conflict` with one line per index that exists in another form, or per set of duplicates that an index refuses
 */
export async function provisionCollections(db: Db, report: Report): Promise<void> {
  const conflicts: string[] = []
  const duplicates: string[] = []
  for (const [name, definition] of Object.entries(COLLECTIONS) as [CollectionName, CollectionDefinition][]) {
    // An existing collection keeps its storage options.
    const storage = definition.isLarge === true ? LARGE_COLLECTION : {}
    await asUnavailable(() => db.createCollection(name, storage)).catch(ignoreCode(NAMESPACE_EXISTS))
    for (const { keys, options } of definition.indexes) {
      try {
        const isMade = asUnavailable(() => db.collection(name).createIndex(keys, options ?? {}))
        await whileReporting(isMade, seconds =>
          report(`${name}: index ${JSON.stringify(keys)} is still being built after ${seconds} s`),
        )
      } catch (error) {
        if (isDuplicateKey(error)) {
          duplicates.push(...(await findDuplicates(db, name)).map(describeDuplicates))
          continue
        }
        if (!INDEX_CONFLICTS.has(codeOf(error))) throw error
        conflicts.push(`${name} ${JSON.stringify(keys)}: ${(error as Error).message}`)
      }
    }
  }
  if (duplicates.length > 0) {
    const more = duplicates.length > DUPLICATES_SHOWN ? `\n  and ${duplicates.length - DUPLICATES_SHOWN} more` : ''
    const list = `\n  ${duplicates.slice(0, DUPLICATES_SHOWN).join('\n  ')}${more}`
    throw new AppError('conflict', `Unique indexes cannot be created because of duplicates; ${REMEDY}:${list}`)
  }
  if (conflicts.length > 0) {
    const list = conflicts.join('\n  ')
    throw new AppError('conflict', `${conflicts.length} index(es) exist in another form; drop them first:\n  ${list}`)
  }
  report(`collections: all ${Object.keys(COLLECTIONS).length} are there with their indexes`)
}

const DUPLICATES_SHOWN = 20
const REMEDY =
  'node packages/provision/src/duplicates-main.ts resolves them and deletes nothing, with --dry-run it only lists them (docs/replay.md)'

function describeDuplicates({ collection, values, ids }: Duplicates): string {
  return `${collection} ${JSON.stringify(values)}: ${ids.join(', ')}`
}

/** Calls `report` with the seconds that have passed, every `REPORT_EVERY_MS` until the promise settles. */
async function whileReporting(promise: Promise<unknown>, report: (seconds: number) => void): Promise<void> {
  const startedAt = performance.now()
  const timer = setInterval(() => report(Math.round((performance.now() - startedAt) / 1_000)), REPORT_EVERY_MS)
  try {
    await promise
  } finally {
    clearInterval(timer)
  }
}

function codeOf(error: unknown): number {
  return Number((error as { code?: unknown }).code)
}

function ignoreCode(code: number): (error: unknown) => void {
  return error => {
    if (codeOf(error) !== code) throw error
  }
}
