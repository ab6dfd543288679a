import {
  type AuditDocument,
  COLLECTIONS,
  type CollectionDefinition,
  type CollectionName,
  newId,
} from '@backstop/contracts'
import { type AuditKeys, signRow } from '@backstop/kit/audit'
import { asUnavailable, type Mongo } from '@backstop/kit/mongo'
import type { Db, Document, IndexSpecification } from 'mongodb'
import { type DuplicateRule, ruleOf } from './duplicate-rules.ts'

/** Documents that a unique index would refuse: they have the same values in its fields. */
export interface Duplicates {
  readonly collection: CollectionName
  readonly fields: readonly string[]
  readonly values: Readonly<Record<string, unknown>>
  readonly ids: readonly string[]
}

/** What is done about duplicates: one document keeps the values, and the others lose them. */
export interface Resolution {
  readonly duplicates: Duplicates
  /** Undefined if a person must decide. */
  readonly keptId: string | undefined
  readonly otherIds: readonly string[]
  readonly why: string
}

/** Lists the duplicates of every unique index, or of one collection. @throws AppError `unavailable` */
export async function findDuplicates(db: Db, only?: CollectionName): Promise<Duplicates[]> {
  const found: Duplicates[] = []
  for (const [name, { indexes }] of Object.entries(COLLECTIONS) as [CollectionName, CollectionDefinition][]) {
    if (only !== undefined && only !== name) continue
    for (const { keys, options } of indexes) {
      if (options?.unique) found.push(...(await findInIndex(db, name, keys, options.partialFilterExpression ?? {})))
    }
  }
  return found
}

async function findInIndex(
  db: Db,
  collection: CollectionName,
  keys: IndexSpecification,
  filter: Document,
): Promise<Duplicates[]> {
  const fields = Object.keys(keys)
  // Group keys may have no dots.
  const key = Object.fromEntries(fields.map((field, index) => [`f${index}`, `$${field}`]))
  const groups = await asUnavailable(() =>
    db
      .collection(collection)
      .aggregate<{ _id: Document; ids: string[] }>(
        [
          { $match: filter },
          // The index has one entry for each value of a list. A field without a list stays as it is.
          ...fields.flatMap(unwindsOf),
          { $group: { _id: key, ids: { $addToSet: '$_id' } } },
          { $match: { 'ids.1': { $exists: true } } },
        ],
        { allowDiskUse: true },
      )
      .toArray(),
  )
  return groups.map(({ _id, ids }) => ({
    collection,
    fields,
    values: Object.fromEntries(fields.map((field, index) => [field, _id[`f${index}`] ?? null])),
    ids: ids.toSorted(),
  }))
}

/** `a.b` is unwound at `a` and at `a.b`. */
function unwindsOf(field: string): Document[] {
  const parts = field.split('.')
  return parts.map((_, index) => ({
    $unwind: { path: `$${parts.slice(0, index + 1).join('.')}`, preserveNullAndEmptyArrays: true },
  }))
}

/**
 * Resolves duplicates: one document keeps the values, the others lose them, and nothing is deleted. Each changed document has an audit row,
 * written in the same transaction. Safe to repeat.
 * @param isDryRun true: only says what would be done
 * @param keys sign the audit rows; undefined without SECRET_KEYS: the verification of the audit then counts them as unsigned
 * @throws AppError `unavailable`
 */
export async function resolveDuplicates(
  mongo: Mongo,
  { isDryRun, keys, report }: { isDryRun: boolean; keys?: AuditKeys | undefined; report(line: Resolution): void },
): Promise<void> {
  for (const duplicates of await findDuplicates(mongo.db)) {
    const rule = ruleOf(duplicates.collection, duplicates.fields)
    const { collection, ids } = duplicates
    if (rule === undefined) {
      const why = 'a person must decide: docs/replay.md'
      report({ duplicates, keptId: undefined, otherIds: ids, why })
      continue
    }
    const documents = await asUnavailable(() =>
      mongo.db
        .collection<{ _id: string }>(collection)
        .find({ _id: { $in: [...ids] } })
        .sort(rule.first)
        .toArray(),
    )
    const [kept, ...others] = documents
    if (kept === undefined) continue
    if (!isDryRun) {
      for (const other of others) await loseValues(mongo, duplicates, other, kept._id, rule, keys)
    }
    report({ duplicates, keptId: kept._id, otherIds: others.map(({ _id }) => _id), why: rule.why })
  }
}

function loseValues(
  { client, db }: Mongo,
  { collection, values }: Duplicates,
  other: Document & { _id: string },
  keptId: string,
  rule: DuplicateRule,
  keys: AuditKeys | undefined,
): Promise<void> {
  const { update, changes } = rule.lose(other._id, values, keptId)
  return asUnavailable(async () => {
    // MongoDB's time, because this machine's clock may be wrong.
    const { localTime } = await db.command({ hello: 1 })
    const row: AuditDocument = {
      _id: newId('audit'),
      at: localTime,
      key_id: null,
      actor: null,
      session_id: null,
      action: `${collection}.resolve_duplicate`,
      target: other._id,
      project_id: typeof other.project_id === 'string' ? other.project_id : null,
      changes: changes.map(change => ({ resource: other._id, ...change })),
      unchained: true,
      request_id: null,
      address: null,
    }
    await client.withSession(session =>
      session.withTransaction(async () => {
        await db.collection<{ _id: string }>(collection).updateOne({ _id: other._id }, update, { session })
        await db
          .collection<AuditDocument>('audit')
          .insertOne(keys === undefined ? row : signRow(row, keys), { session })
      }),
    )
  })
}
