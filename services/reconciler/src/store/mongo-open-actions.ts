import type { ActionDocument, IncidentDocument } from '@backstop/contracts'
import { asUnavailable, type Mongo } from '@backstop/kit/mongo'
import type { Filter } from 'mongodb'
import type { OpenActionReader } from './store.ts'

/** Reads actions with an open incident from the projections. */
export function createMongoOpenActions(mongo: Mongo): OpenActionReader {
  const incidents = mongo.db.collection<IncidentDocument>('incidents')
  const actions = mongo.db.collection<ActionDocument>('actions')
  return {
    byIds: ids => asUnavailable(() => actions.find({ _id: { $in: [...ids] } }).toArray()),
    page: (projectId, after, limit) =>
      asUnavailable(async () => {
        const at = new Date(after?.openedAt ?? 0)
        const later = { $or: [{ opened: { $gt: at } }, { opened: at, _id: { $gt: after?.incidentId ?? '' } }] }
        const open = { project_id: projectId, state: { $in: ['open', 'acknowledged'] }, code: 'UNEXPECTED_ACTION' }
        const found = await incidents
          .find({ ...open, ...later } as Filter<IncidentDocument>)
          .sort({ opened: 1, _id: 1 })
          .limit(limit)
          .toArray()
        const ids = found.flatMap(({ action_id }) => action_id ?? [])
        const byId = new Map((await actions.find({ _id: { $in: ids } }).toArray()).map(action => [action._id, action]))
        return found.flatMap(({ _id, opened, action_id }) => {
          const action = byId.get(action_id ?? '')
          return action === undefined ? [] : [{ openedAt: opened.getTime(), incidentId: _id, action }]
        })
      }),
  }
}
