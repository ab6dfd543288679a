import type { ChannelDocument, ChannelHealthDocument } from '@backstop/contracts'
import { asUnavailable } from '@backstop/kit'
import type { Db, Document } from 'mongodb'
import type { ChannelRecord, ChannelStore } from './channel-store.ts'

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

/** The server's own first answer is cut at 101 documents, which makes every larger read two. */
const ONE_ANSWER = { batchSize: 1_000 } as const

type Joined<T> = T & { health: Pick<ChannelHealthDocument, '_id' | 'disabled_reason'>[] }

export function createMongoChannelStore(db: Db): ChannelStore {
  const channels = db.collection<ChannelDocument>('channels')
  return {
    listenersOf: projectIds =>
      asUnavailable(async () => {
        const working = await channels
          .aggregate<Pick<ChannelDocument, '_id' | 'project_id' | 'events'>>(
            [
              { $match: { project_id: { $in: projectIds }, enabled: true, deleted_at: null } },
              { $project: { project_id: 1, events: 1 } },
              WITH_HEALTH,
              { $match: { health: { $size: 0 } } },
            ],
            ONE_ANSWER,
          )
          .toArray()
        return working.map(({ _id, project_id, events }) => ({ channelId: _id, projectId: project_id, events }))
      }),
    findChannels: channelIds =>
      asUnavailable(async () => {
        const found = await channels
          .aggregate<Joined<ChannelDocument>>([{ $match: { _id: { $in: channelIds } } }, WITH_HEALTH], ONE_ANSWER)
          .toArray()
        return found.map(({ health, ...channel }): ChannelRecord => {
          const [disabled] = health
          return { channel, disabledReason: disabled === undefined ? null : (disabled.disabled_reason ?? 'no reason') }
        })
      }),
  }
}
