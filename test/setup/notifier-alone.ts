/** A notifier process without the other services, and its channels. */

import type { ChannelDocument } from '@backstop/channels'
import type { Alert, DeliveryDocument, DeliveryRequest } from '@backstop/contracts'
import { until } from '@backstop/kit/test'
import { openServiceAlone, type ServiceAlone, type ServiceAloneOptions } from './service-alone.ts'

/** The key that seals the secrets of channels in the notifier's fixtures. */
const SECRET_KEYS = `test:${Buffer.alloc(32, 7).toString('base64')}`

export interface NotifierAlone extends ServiceAlone {
  readonly database: string
  putChannels(channels: readonly ChannelDocument[]): Promise<void>
  publish(alerts: readonly Alert[]): Promise<void>
  request(requests: readonly DeliveryRequest[]): Promise<void>
  /** The number of recorded deliveries to the channel, in any state. */
  recordedFor(channelId: string): Promise<number>
  /**
   * Resolves when `more` deliveries are recorded as delivered since the last call.
   * @throws Error after two minutes
   */
  expectDelivered(more: number): Promise<void>
}

export async function openNotifierAlone(
  name: string,
  { stack, folder, provision }: Pick<ServiceAloneOptions, 'stack' | 'folder' | 'provision'>,
): Promise<NotifierAlone> {
  const alone = await openServiceAlone('notifier', { name, stack, folder, provision, env: { SECRET_KEYS } })
  const { topicPrefix, mongo, codec, send } = alone
  const deliveries = mongo.db.collection<DeliveryDocument>('deliveries')
  let delivered = 0
  return {
    ...alone,
    database: mongo.db.databaseName,
    async putChannels(channels) {
      await mongo.db.collection<ChannelDocument>('channels').insertMany([...channels])
    },
    publish: alerts =>
      send(
        alerts.map(alert => ({
          topic: 'alerts',
          key: alert.project_id,
          value: codec.encode('alert', alert),
          headers: {},
        })),
      ),
    request: requests =>
      send(
        requests.map(request => ({
          topic: 'deliveries',
          key: request.channel_id,
          value: codec.encode('delivery-request', request),
          headers: {},
        })),
      ),
    recordedFor: channel_id => deliveries.countDocuments({ channel_id }),
    async expectDelivered(more) {
      delivered += more
      const count = () => deliveries.countDocuments({ state: 'delivered' })
      await until(`${delivered} deliveries are on record`, async () => (await count()) === delivered, {
        everyMs: 100,
        timeoutMs: 120_000,
        seen: () => ({ topicPrefix }),
      })
    },
  }
}
