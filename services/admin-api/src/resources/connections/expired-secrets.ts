import type { ChannelDocument } from '@backstop/channels'
import type { ConnectionDocument } from '@backstop/contracts'
import { asUnavailable } from '@backstop/kit/mongo'
import type { Db } from 'mongodb'

/** Secrets that were replaced and whose overlap is over. They no longer sign or authenticate anything. */
export interface ExpiredSecrets {
  /**
   * Erases the expired secrets of channels and connections. Document versions stay the same, because no shown field changes. A concurrent
   * change of the same document may restore a secret until the next call.
   * @returns the number of documents that held an expired secret
   * @throws AppError `unavailable`
   */
  erase(now: Date): Promise<number>
}

/** Erases expired secrets in MongoDB. */
export function createMongoExpiredSecrets(db: Db): ExpiredSecrets {
  const channels = db.collection<ChannelDocument>('channels')
  const connections = db.collection<ConnectionDocument>('connections')
  return {
    erase: now =>
      asUnavailable(async () => {
        // MongoDB compares only values of the same type, so $lte never matches null.
        const hasExpired = { $lte: now }
        const [ofChannels, ofConnections] = await Promise.all([
          channels.updateMany(
            { 'config.previous_secret.expires_at': hasExpired },
            { $set: { 'config.previous_secret': null } },
          ),
          connections.updateMany(
            { 'inbound_secrets.expires_at': hasExpired },
            { $pull: { inbound_secrets: { expires_at: hasExpired } } },
          ),
        ])
        return ofChannels.modifiedCount + ofConnections.modifiedCount
      }),
  }
}
