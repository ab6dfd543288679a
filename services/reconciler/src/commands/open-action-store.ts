import type { ActionDocument, IncidentDocument } from '@backstop/contracts'
import { asUnavailable, type Mongo } from '@backstop/kit/mongo'
import type { Filter } from 'mongodb'

/** Reads the actions that have an open incident. */
export interface OpenActionReader {
  /**
   * Actions of a project with an open incident, oldest incident first.
   * @param after the last action of the page before; undefined for the first page
   */
  page(projectId: string, after: OpenActionPosition | undefined, limit: number): Promise<OpenAction[]>
  /** The actions with these ids, whether or not they have an open incident. */
  byIds(ids: readonly string[]): Promise<ActionDocument[]>
}

export interface OpenActionPosition {
  readonly openedAt: number
  readonly incidentId: string
}

/** An action with an open incident, as lists show it. */
export interface OpenAction extends OpenActionPosition {
  readonly action: ActionDocument
}

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
