import type { ChannelDocument } from '@backstop/channels'
import type { ChannelHealthDocument, ProjectDocument, SuppressionDocument } from '@backstop/contracts'
import { asUnavailable } from '@backstop/kit'
import type { Db, Document } from 'mongodb'
import { type ChannelRecord, type ChannelStore, projectFacts } from './channel-store.ts'

/** Joined by the server, so that a channel and its health are one read. */
const WITH_HEALTH: Document = {
  $lookup: {
    from: 'channel_health',
    localField: '_id',
    foreignField: '_id',
    as: 'health',
    pipeline: [{ $match: { disabled_at: { $ne: null } } }, { $project: { disabled_reason: 1 } }],
  },
}

/** The project's look and, of the channel's addresses, those that are suppressed: joined in the same read. */
const WITH_PROJECT: readonly Document[] = [
  {
    $lookup: {
      from: 'projects',
      localField: 'project_id',
      foreignField: '_id',
      as: 'projects',
      pipeline: [{ $project: { branding: 1 } }],
    },
  },
  {
    $set: {
      // As `suppressionId` makes them. A list of ids, because a join by ids uses the index and one by an expression does not.
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

/** The server's own first answer is cut at 101 documents, which makes every larger read two. */
const ONE_ANSWER = { batchSize: 1_000 } as const

type Joined<T> = T & {
  health: Pick<ChannelHealthDocument, '_id' | 'disabled_reason'>[]
  projects: Pick<ProjectDocument, '_id' | 'branding'>[]
  suppressions: Pick<SuppressionDocument, '_id' | 'address' | 'reason'>[]
}

export function createMongoChannelStore(db: Db): ChannelStore {
  const channels = db.collection<ChannelDocument>('channels')
  return {
    listenersOf: projectIds =>
      asUnavailable(async () => {
        const listening = await channels
          .find<Pick<ChannelDocument, '_id' | 'project_id' | 'events'>>(
            { project_id: { $in: [...projectIds] }, enabled: true, deleted_at: null },
            { projection: { project_id: 1, events: 1 }, ...ONE_ANSWER },
          )
          .toArray()
        return listening.map(({ _id, project_id, events }) => ({ channelId: _id, projectId: project_id, events }))
      }),
    findChannels: channelIds =>
      asUnavailable(async () => {
        const found = await channels
          .aggregate<Joined<ChannelDocument>>(
            [{ $match: { _id: { $in: channelIds } } }, WITH_HEALTH, ...WITH_PROJECT],
            ONE_ANSWER,
          )
          .toArray()
        return found.map(({ health, projects, suppressions, ...channel }): ChannelRecord => {
          const [disabled] = health
          return {
            channel,
            disabledReason: disabled === undefined ? null : (disabled.disabled_reason ?? 'no reason'),
            project: projectFacts(projects[0], suppressions),
          }
        })
      }),
  }
}
