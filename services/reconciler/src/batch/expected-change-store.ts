import { type ExpectedChangeDocument, type ExpectedChangeUsesDocument, usesIdRange } from '@backstop/contracts'
import { asUnavailable, type Mongo, writeIgnoringDuplicates } from '@backstop/kit/mongo'
import type { ExpectedChangeUses } from '@backstop/verdict'

/** The expected changes to look up. */
export interface ExpectedChangesQuery {
  readonly projectIds: readonly string[]
  /** Subjects to look up. Expected changes without a subject, or with an empty one, are always found. */
  readonly names: readonly string[]
  /** Only expected changes that expire at this time or later, in milliseconds since the epoch. */
  readonly expiringAfter: number
}

/**
 * The limit of expected changes for one subject, or without a subject, in one project; those that expire last are
 * found. People create one for a refund, or one for a day of refunds, so more than a thousand valid ones come from
 * faulty software.
 */
export const MAX_FOUND_PER_SUBJECT = 1_000

/** Reads expected changes. */
export interface ExpectedChangeReader {
  find(query: ExpectedChangesQuery): Promise<ExpectedChangeDocument[]>
  /** The expected changes with these ids. Deleted ones are left out. */
  byIds(ids: readonly string[]): Promise<ExpectedChangeDocument[]>
  /**
   * The latest expected changes of each project that were created since a time.
   * @param since milliseconds since the epoch
   * @param limit for each project
   */
  madeSince(since: number, limit: number): Promise<ExpectedChangeDocument[]>
}

/** Expected changes. admin-api stores those that people create, the reconciler those of incidents that were resolved as their own change. */
export interface ExpectedChangeStore extends ExpectedChangeReader {
  /** Stores new expected changes. One with a known id stays as it is, so that a repeated command does not restore what a person deleted. */
  addAll(documents: readonly ExpectedChangeDocument[]): Promise<void>
}

/** How much of each expected change is used, by the expected change's id. */
export interface ExpectedChangeUsesStore {
  load(ids: readonly string[]): Promise<ReadonlyMap<string, ExpectedChangeUses>>
  /** All uses of an expected change: one list, or one for each period of its limits. */
  allOf(expectedChangeId: string): Promise<ExpectedChangeUses[]>
  /**
   * @param next its version must be one higher than the loaded version
   * @returns false if another writer has changed the document
   */
  save(next: ExpectedChangeUses): Promise<boolean>
}

/** Also matches documents without the field. */
const NOT_DELETED = { deleted_at: null } as const

/** The collection `expected_changes`. Deleted expected changes are not read. */
export function createMongoExpectedChanges(mongo: Mongo): ExpectedChangeStore {
  const collection = mongo.db.collection<ExpectedChangeDocument>('expected_changes')
  /**
   * The limit applies to each group, because a common limit would let one project with many expected changes hide those
   * of another.
   */
  const lastOfEach = (by: unknown, query: object, last: { n: number; sortBy: object }) => {
    const stages = [
      { $match: query },
      { $group: { _id: by, found: { $topN: { ...last, output: '$$ROOT' } } } },
      { $unwind: '$found' },
      { $replaceWith: '$found' },
    ]
    return asUnavailable(() => collection.aggregate<ExpectedChangeDocument>(stages).toArray())
  }
  return {
    find: ({ projectIds, names, expiringAfter }) => {
      const query = {
        project_id: { $in: [...projectIds] },
        subject: { $in: [null, '', ...names] },
        expires_at: { $gte: new Date(expiringAfter) },
        ...NOT_DELETED,
      }
      const by = { project: '$project_id', subject: '$subject' }
      return lastOfEach(by, query, { n: MAX_FOUND_PER_SUBJECT, sortBy: { expires_at: -1 } })
    },
    byIds: ids => asUnavailable(() => collection.find({ _id: { $in: [...ids] }, ...NOT_DELETED }).toArray()),
    madeSince: (since, limit) => {
      const query = { created_at: { $gte: new Date(since) }, ...NOT_DELETED }
      return lastOfEach('$project_id', query, { n: limit, sortBy: { created_at: -1, _id: -1 } })
    },
    addAll: documents =>
      asUnavailable(async () => {
        if (documents.length === 0) return
        const insert = () => collection.insertMany([...documents], { ordered: false })
        await writeIgnoringDuplicates(insert, documents.length)
      }),
  }
}

/** How much of each expected change is used, collection `expected_change_uses`. */
export function createMongoExpectedChangeUses(mongo: Mongo): ExpectedChangeUsesStore {
  const collection = mongo.db.collection<ExpectedChangeUsesDocument>('expected_change_uses')
  return {
    load: ids =>
      asUnavailable(async () => {
        const found = ids.length === 0 ? [] : await collection.find({ _id: { $in: [...ids] } }).toArray()
        return new Map(found.map(document => [document._id, usesOf(document)]))
      }),
    allOf: id =>
      asUnavailable(async () => {
        const { min, max } = usesIdRange(id)
        return (await collection.find({ _id: { $gte: min, $lte: max } }).toArray()).map(usesOf)
      }),
    save: next =>
      asUnavailable(async () => {
        const document = documentOf(next)
        if (next.version === 1) {
          return (
            (await writeIgnoringDuplicates(() => collection.insertMany([document], { ordered: false }), 1)).length === 0
          )
        }
        const { matchedCount } = await collection.replaceOne({ _id: next.id, version: next.version - 1 }, document)
        return matchedCount === 1
      }),
  }
}

export function usesOf({ _id, project_id, version, uses, expires_at }: ExpectedChangeUsesDocument): ExpectedChangeUses {
  return {
    id: _id,
    projectId: project_id,
    version,
    uses: uses.map(({ action_id, amount, subject_id, subject_version }) => ({
      actionId: action_id,
      amount,
      ...(subject_id === undefined ? {} : { caseId: subject_id }),
      caseVersion: subject_version ?? 0,
    })),
    expiresAt: expires_at.getTime(),
  }
}

function documentOf({ id, projectId, version, uses, expiresAt }: ExpectedChangeUses): ExpectedChangeUsesDocument {
  return {
    _id: id,
    project_id: projectId,
    version,
    uses: uses.map(({ actionId, amount, caseId, caseVersion }) => ({
      action_id: actionId,
      amount,
      ...(caseId === undefined ? {} : { subject_id: caseId }),
      subject_version: caseVersion,
    })),
    expires_at: new Date(expiresAt),
  }
}
