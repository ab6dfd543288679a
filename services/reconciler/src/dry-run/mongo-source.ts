import type {
  ActionDocument,
  ExpectedChangeDocument,
  ExpectedChangeUsesDocument,
  FirstExecutionDocument,
  InboxBodyDocument,
  InboxDocument,
} from '@backstop/contracts'
import { asUnavailable, type Mongo } from '@backstop/kit/mongo'
import { openMongoBooks } from '@backstop/ledger'
import type { Collection } from 'mongodb'
import { createMongoCases } from '../store/mongo-cases.ts'
import { createMongoConnections } from '../store/mongo-connections.ts'
import { usesOf } from '../store/mongo-expected-changes.ts'
import type { ActionAnchor, PagePosition, ReplaySource, Window } from './source.ts'

/** Ids per query, so that a query stays within MongoDB's size limit. */
const IDS_A_QUERY = 1_000

const ANCHOR = { project_id: 1, connection_ids: 1, provider: 1, subject: 1, first_seen: 1 } as const

/** The database of an installation, as a source for dry runs. */
export function createMongoReplaySource(mongo: Mongo): ReplaySource {
  const { db } = mongo
  const actions = db.collection<ActionDocument>('actions')
  const inbox = db.collection<InboxDocument>('inbox')
  const bodies = db.collection<InboxBodyDocument>('inbox_bodies')
  const firstExecutions = db.collection<FirstExecutionDocument>('first_executions')
  const cases = createMongoCases(mongo, () => 'reads only')
  const connections = createMongoConnections(mongo)
  const expectedChanges = db.collection<ExpectedChangeDocument>('expected_changes')
  const expectedChangeUses = db.collection<ExpectedChangeUsesDocument>('expected_change_uses')
  const { ledger } = openMongoBooks(db, { announce: async () => {} })
  return {
    actions: (window, after, limit) =>
      asUnavailable(() =>
        actions
          .find({
            ...inWindow('first_seen', window, after),
            ...inScope(window, 'connection_ids'),
            merged_into: { $exists: false },
          })
          .project<ActionAnchor>(ANCHOR)
          .sort({ first_seen: 1, _id: 1 })
          .limit(limit)
          .toArray(),
      ),
    inbox: (window, after, limit) =>
      asUnavailable(() =>
        inbox
          .find({ ...inWindow('received_at', window, after), ...inScope(window, 'connection_id') })
          .sort({ received_at: 1, _id: 1 })
          .limit(limit)
          .toArray(),
      ),
    actionsById: ids => byIds(actions, ids),
    inboxById: ids => byIds(inbox, ids),
    bodies: async ids => new Map((await byIds(bodies, ids)).map(({ _id, body }) => [_id, body])),
    cases: refs => cases.load(refs),
    operations: refs => ledger.byReferences(refs),
    connections: ids => connections.byIds(ids),
    firstExecutions: async ids =>
      new Map((await byIds(firstExecutions, ids)).map(({ _id, at }) => [_id, at.getTime()])),
    expectedChanges: (projectIds, names) =>
      asUnavailable(() =>
        expectedChanges.find({ project_id: { $in: [...projectIds] }, subject: { $in: [null, ...names] } }).toArray(),
      ),
    expectedChangeUses: async ids => (await byIds(expectedChangeUses, ids)).map(usesOf),
  }
}

/** The part of the window that was not read yet. */
function inWindow(field: 'first_seen' | 'received_at', { from, to }: Window, after: PagePosition | undefined) {
  const range = { [field]: { $gte: new Date(after?.at ?? from), $lt: new Date(to) } }
  if (after === undefined) return range
  const at = new Date(after.at)
  return { ...range, $or: [{ [field]: { $gt: at } }, { [field]: at, _id: { $gt: after.id } }] }
}

function inScope({ projectId, connectionId }: Window, connectionField: string) {
  return {
    ...(projectId === undefined ? {} : { project_id: projectId }),
    ...(connectionId === undefined ? {} : { [connectionField]: connectionId }),
  }
}

async function byIds<T extends { _id: string }>(collection: Collection<T>, ids: readonly string[]): Promise<T[]> {
  const found: T[] = []
  for (let start = 0; start < ids.length; start += IDS_A_QUERY) {
    const page = { _id: { $in: ids.slice(start, start + IDS_A_QUERY) } }
    found.push(...((await asUnavailable(() => collection.find(page as never).toArray())) as unknown as T[]))
  }
  return found
}
