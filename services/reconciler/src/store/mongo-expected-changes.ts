import type { ExpectedChangeDocument, ExpectedChangeUsesDocument } from '@backstop/contracts'
import { asUnavailable, type Mongo, writeIgnoringDuplicates } from '@backstop/kit/mongo'
import type { ExpectedChangeUses } from '@backstop/verdict'
import { type ExpectedChangeStore, type ExpectedChangeUsesStore, MAX_FOUND_PER_SUBJECT } from './store.ts'

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
        subject: { $in: [null, ...names] },
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
    uses: uses.map(({ action_id, amount, subject_version }) => ({
      actionId: action_id,
      amount,
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
    uses: uses.map(({ actionId, amount, caseVersion }) => ({
      action_id: actionId,
      amount,
      subject_version: caseVersion,
    })),
    expires_at: new Date(expiresAt),
  }
}
