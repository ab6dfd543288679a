import { type ChannelDocument, resealConfig } from '@backstop/channels'
import { asUnavailable } from '@backstop/kit/mongo'
import type { StoredSecret } from '@backstop/kit/secret-box'
import type { Db } from 'mongodb'

/** Channels that are read to judge the keys. They are the newest, whose key is in use. */
const SAMPLE = 100

/** The secrets of the newest channels. @throws AppError `unavailable` */
export async function readChannelSecrets(db: Db): Promise<StoredSecret[]> {
  const channels = await asUnavailable(() =>
    db.collection<ChannelDocument>('channels').find({ deleted_at: null }).sort({ _id: -1 }).limit(SAMPLE).toArray(),
  )
  const secrets: StoredSecret[] = []
  for (const { _id: id, project_id: projectId, config } of channels) {
    resealConfig(config, (sealed, field) => {
      secrets.push({ sealed, context: { collection: 'channels', id, projectId, field } })
      return { sealed, fingerprint: '' }
    })
  }
  return secrets
}
