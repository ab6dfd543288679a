import type { ChannelDocument } from '@backstop/channels'
import type { ConnectionDocument } from '@backstop/contracts'
import { asUnavailable } from '@backstop/kit'
import type { Db } from 'mongodb'

/** Secrets whose overlap with the one that replaced them is over: nothing is signed or authenticated with them any more. */
export interface ExpiredSecrets {
  /**
   * Erases those of channels and connections. Their versions stay: nothing changes that anybody is shown. A change of the
   * same document at the same moment may bring one back, until the next time.
   * @returns how many documents held one
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
        // Of another type than a date, null is never less than one.
        const isOver = { $lte: now }
        const [ofChannels, ofConnections] = await Promise.all([
          channels.updateMany(
            { 'config.previous_secret.expires_at': isOver },
            { $set: { 'config.previous_secret': null } },
          ),
          connections.updateMany(
            { 'inbound_secrets.expires_at': isOver },
            { $pull: { inbound_secrets: { expires_at: isOver } } },
          ),
        ])
        return ofChannels.modifiedCount + ofConnections.modifiedCount
      }),
  }
}
