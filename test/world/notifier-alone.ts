/** A notifier alone, with its channels. */

import type { ChannelDocument } from '@backstop/channels'
import type { Alert, DeliveryDocument, DeliveryRequest } from '@backstop/contracts'
import { until } from '@backstop/kit/test'
import type { StackUrls } from '@backstop/stack'
import { openServiceAlone, type ServiceAlone } from './service-alone.ts'

/** The key with which the notifier's fixtures seal secrets of channels. */
const SECRET_KEYS = `test:${Buffer.alloc(32, 7).toString('base64')}`

export interface NotifierAlone extends ServiceAlone {
  readonly database: string
  putChannels(channels: readonly ChannelDocument[]): Promise<void>
  publish(alerts: readonly Alert[]): Promise<void>
  request(requests: readonly DeliveryRequest[]): Promise<void>
  /** The number of recorded deliveries to the channel, in any state. */
  recordedFor(channelId: string): Promise<number>
  /** Resolves when `count` more deliveries than at the last call are recorded as delivered. @throws Error otherwise */
  expectDelivered(more: number): Promise<void>
}

export async function openNotifierAlone(
  name: string,
  { stack, folder }: { stack: StackUrls; folder: string },
): Promise<NotifierAlone> {
  const alone = await openServiceAlone('notifier', { name, stack, folder, env: { SECRET_KEYS } })
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
        alerts.map(one => ({ topic: 'alerts', key: one.project_id, value: codec.encode('alert', one), headers: {} })),
      ),
    request: requests =>
      send(
        requests.map(one => ({
          topic: 'deliveries',
          key: one.channel_id,
          value: codec.encode('delivery-request', one),
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
