import type { ChannelHealthDocument } from '@backstop/contracts'
import { asUnavailable } from '@backstop/kit'
import type { AnyBulkWriteOperation, Db } from 'mongodb'
import { type ChannelNews, foldNews, type HealthStore } from './health-store.ts'

export function createMongoHealthStore(db: Db): HealthStore {
  const collection = db.collection<ChannelHealthDocument>('channel_health')
  return {
    async record(channels) {
      if (channels.length === 0) return
      // In order: the row has to be there before the second operation of its channel can disable it.
      await asUnavailable(() => collection.bulkWrite(channels.flatMap(toOperations), { ordered: true }))
    },
  }
}

function toOperations({ channelId, projectId, news }: ChannelNews): AnyBulkWriteOperation<ChannelHealthDocument>[] {
  const { lastSuccessAtMs, lastFailureAtMs, lastError, disable } = foldNews(news)
  const seen: Partial<ChannelHealthDocument> = {}
  const absent: Partial<ChannelHealthDocument> = { project_id: projectId, disabled_at: null, disabled_reason: null }
  // $max: two processes tell their news in any order.
  if (lastSuccessAtMs === null) absent.last_success_at = null
  else seen.last_success_at = new Date(lastSuccessAtMs)
  if (lastFailureAtMs === null) absent.last_failure_at = null
  else seen.last_failure_at = new Date(lastFailureAtMs)
  if (lastError === null) absent.last_error = null
  const operations: AnyBulkWriteOperation<ChannelHealthDocument>[] = [
    {
      updateOne: {
        filter: { _id: channelId },
        update: {
          ...(Object.keys(seen).length === 0 ? {} : { $max: seen }),
          ...(lastError === null ? {} : { $set: { last_error: lastError } }),
          $setOnInsert: absent,
        },
        upsert: true,
      },
    },
  ]
  if (disable !== null) {
    operations.push({
      updateOne: {
        filter: { _id: channelId, disabled_at: null },
        update: { $set: { disabled_at: new Date(disable.atMs), disabled_reason: disable.reason } },
      },
    })
  }
  return operations
}
