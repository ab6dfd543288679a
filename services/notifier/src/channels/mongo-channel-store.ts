import type { ChannelDocument } from '@backstop/channels'
import { audienceOf } from '@backstop/channels/deliver'
import type {
  ActorDocument,
  ChannelHealthDocument,
  ConnectionDocument,
  ErasedActionDocument,
  ProjectDocument,
  SilenceDocument,
  SuppressionDocument,
} from '@backstop/contracts'
import { mongoStore, ONE_ANSWER } from '@backstop/kit/mongo'
import type { Db, Document } from 'mongodb'
import { type ChannelRecord, type ChannelStore, type KnownSilence, projectFacts } from './channel-store.ts'

/** A server-side join, so that a channel and its health are one read. */
const WITH_HEALTH: Document = {
  $lookup: {
    from: 'channel_health',
    localField: '_id',
    foreignField: '_id',
    as: 'health',
    pipeline: [{ $match: { disabled_at: { $ne: null } } }, { $project: { disabled_reason: 1 } }],
  },
}

/** Joins the project's settings and the suppressed addresses of the channel in the same read. */
const WITH_PROJECT: readonly Document[] = [
  {
    $lookup: {
      from: 'projects',
      localField: 'project_id',
      foreignField: '_id',
      as: 'projects',
      pipeline: [{ $project: { branding: 1, time_zone: 1 } }],
    },
  },
  {
    $set: {
      // Ids in the form of `suppressionId`. The join uses ids because a join by expression cannot use the index.
      suppression_ids: {
        $map: { input: { $ifNull: ['$config.to', []] }, in: { $concat: ['$project_id', '/', { $toLower: '$$this' }] } },
      },
    },
  },
  {
    $lookup: {
      from: 'suppressions',
      localField: 'suppression_ids',
      foreignField: '_id',
      as: 'suppressions',
      pipeline: [{ $match: { reason: { $ne: null } } }, { $project: { address: 1, reason: 1 } }],
    },
  },
  { $unset: 'suppression_ids' },
]

/** The names of all connections of a project: there are few, and one alert may be about any of them. */
const WITH_CONNECTIONS: Document = {
  $lookup: {
    from: 'connections',
    localField: '_id',
    foreignField: 'project_id',
    as: 'connections',
    pipeline: [{ $project: { name: 1, status: 1 } }],
  },
}

const WITH_ACTORS: Document = {
  $lookup: {
    from: 'actors',
    localField: '_id',
    foreignField: 'project_id',
    as: 'actors',
    pipeline: [{ $match: { removed_at: null } }, { $project: { name: 1 } }],
  },
}

const WITH_DELETED_CONNECTIONS: Document = {
  $lookup: {
    from: 'connections',
    localField: 'project_id',
    foreignField: 'project_id',
    as: 'deleted_connections',
    pipeline: [{ $match: { status: 'deleted' } }, { $project: { _id: 1 } }],
  },
}

type JoinedChannel<T> = T & {
  health: Pick<ChannelHealthDocument, '_id' | 'disabled_reason'>[]
  projects: Pick<ProjectDocument, '_id' | 'branding' | 'time_zone'>[]
  suppressions: Pick<SuppressionDocument, '_id' | 'address' | 'reason'>[]
  deleted_connections: Pick<ConnectionDocument, '_id'>[]
}

type SubscribedFields = Pick<
  ChannelDocument,
  '_id' | 'project_id' | 'name' | 'events' | 'config' | 'shows_personal_data' | 'filter'
>

export function createMongoChannelStore(db: Db): ChannelStore {
  const channels = db.collection<ChannelDocument>('channels')
  return mongoStore<ChannelStore>({
    async findSubscribedChannels(projectIds) {
      const listening = await channels
        .find<SubscribedFields>(
          { project_id: { $in: [...projectIds] }, enabled: true, deleted_at: null },
          {
            projection: { project_id: 1, name: 1, events: 1, shows_personal_data: 1, filter: 1, 'config.kind': 1 },
            ...ONE_ANSWER,
          },
        )
        .toArray()
      return listening.map(({ _id, project_id, name, events, shows_personal_data, filter, config }) => ({
        channelId: _id,
        name,
        projectId: project_id,
        events,
        filter: filter ?? null,
        audience: audienceOf(config.kind),
        showsPersonalData: shows_personal_data === true,
      }))
    },
    async findNames(projectIds) {
      const named = await db
        .collection<ProjectDocument>('projects')
        .aggregate<
          Pick<ProjectDocument, '_id' | 'name'> & {
            connections: Pick<ConnectionDocument, '_id' | 'name' | 'status'>[]
            actors: Pick<ActorDocument, '_id' | 'name'>[]
          }
        >(
          [{ $match: { _id: { $in: [...projectIds] } } }, { $project: { name: 1 } }, WITH_CONNECTIONS, WITH_ACTORS],
          ONE_ANSWER,
        )
        .toArray()
      return new Map(
        named.map(({ _id, name, connections, actors }) => [
          _id,
          {
            name,
            connections: new Map(connections.map(connection => [connection._id, connection.name])),
            deletedConnections: idsOf(connections.filter(({ status }) => status === 'deleted')),
            actors: new Map(actors.flatMap(actor => (actor.name === null ? [] : [[actor._id, actor.name] as const]))),
          },
        ]),
      )
    },
    findSilences: ({ connectionIds, from, to }) =>
      db
        .collection<SilenceDocument>('silences')
        .find<KnownSilence>(
          { connection_id: { $in: [...connectionIds] }, ends_at: { $gt: from }, created_at: { $lte: to } },
          { projection: { connection_id: 1, created_at: 1, ends_at: 1 }, ...ONE_ANSWER },
        )
        .toArray(),
    async findErasedActions(actionIds) {
      if (actionIds.length === 0) return new Set()
      const erased = db.collection<ErasedActionDocument>('erased_actions')
      return idsOf(
        await erased.find({ _id: { $in: [...actionIds] } }, { projection: { _id: 1 }, ...ONE_ANSWER }).toArray(),
      )
    },
    async findChannels(channelIds) {
      const found = await channels
        .aggregate<JoinedChannel<ChannelDocument>>(
          [{ $match: { _id: { $in: channelIds } } }, WITH_HEALTH, ...WITH_PROJECT, WITH_DELETED_CONNECTIONS],
          ONE_ANSWER,
        )
        .toArray()
      return found.map(({ health, projects, suppressions, deleted_connections, ...channel }): ChannelRecord => {
        const [disabled] = health
        return {
          channel,
          disabledReason: disabled === undefined ? null : (disabled.disabled_reason ?? 'no reason'),
          project: projectFacts(projects[0], suppressions),
          deletedConnections: idsOf(deleted_connections),
        }
      })
    },
  })
}

function idsOf(documents: readonly { readonly _id: string }[]): ReadonlySet<string> {
  return new Set(documents.map(({ _id }) => _id))
}
