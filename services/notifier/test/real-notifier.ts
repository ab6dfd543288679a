/** A notifier in this process on the real parts of a test stack, for integration tests. */

import type { ChannelDocument } from '@backstop/channels'
import { type Mailer, noMailer } from '@backstop/channels/deliver'
import { secretBox } from '@backstop/channels/test'
import {
  type Alert,
  type Command,
  type DeliveryDocument,
  deliveryIdOf,
  RETRY_RUNGS,
  type TopicName,
} from '@backstop/contracts'
import { systemClock } from '@backstop/kit/clock'
import { createEgress } from '@backstop/kit/egress'
import { connectMongo } from '@backstop/kit/mongo'
import { createMetrics } from '@backstop/kit/ops'
import { createFixedCodec, type Receiver, startReceiver, testStack, until } from '@backstop/kit/test'
import { createApp } from '../src/app.ts'
import { openStores } from '../src/start.ts'
import { DEFAULT_STORM_SETTINGS, type StormSettings } from '../src/storm/rules/storm-settings.ts'

const TOPICS = ['alerts', 'commands', 'deliveries', 'deliveries.dead', ...RETRY_RUNGS.map(rung => rung.topic)]

/** Starts a notifier and returns the operations that tests need. Stop it in `afterAll`. */
export async function startRealNotifier({
  mailer = noMailer,
  storms = DEFAULT_STORM_SETTINGS,
}: {
  readonly mailer?: Mailer
  readonly storms?: StormSettings
} = {}) {
  const codec = createFixedCodec()
  const stack = await testStack()
  await stack.createTopics(TOPICS as TopicName[], 1)
  const mongo = connectMongo({ url: stack.mongoUrl, dbName: stack.dbName, appName: 'notifier-test' })
  const egress = createEgress({ allowCidrs: ['127.0.0.0/8'], denyCidrs: [], logger: stack.logger })
  const producer = stack.bus().producer({ sendTimeoutMs: 10_000 })
  await producer.start()
  const app = createApp(
    {
      bus: stack.bus(),
      codec,
      clock: systemClock,
      ...openStores(mongo),
      egress,
      mailer,
      secretBox,
      logger: stack.logger,
      metrics: createMetrics('notifier'),
      canOpenSecrets: async () => true,
      isOverloaded: () => false,
      onFatal: error => stack.logger.fatal({ error }, 'fatal'),
    },
    {
      publicUrl: 'https://console.example.com',
      apiPublicUrl: null,
      brandName: 'Backstop',
      maxActive: 100,
      maxQueuedPerChannel: 1_000,
      storms,
    },
  )
  await app.start()
  const receivers: Receiver[] = []
  const deliveries = mongo.db.collection<DeliveryDocument>('deliveries')
  return {
    stack,
    codec,
    db: mongo.db,
    deliveries,
    async receiver(answer?: Receiver['answer']): Promise<Receiver> {
      const started = await startReceiver(answer)
      receivers.push(started)
      return started
    },
    put: (...channels: ChannelDocument[]) => mongo.db.collection<ChannelDocument>('channels').insertMany(channels),
    publish: (...alerts: Alert[]) =>
      producer.send(
        alerts.map(one => ({ topic: 'alerts', key: one.project_id, value: codec.encode('alert', one), headers: {} })),
      ),
    command: (...commands: Command[]) =>
      producer.send(
        commands.map(one => ({
          topic: 'commands',
          key: one.project_id,
          value: codec.encode('command', one),
          headers: {},
        })),
      ),
    /** Waits until the delivery is in this state. */
    ended: (alertId: string, channelId: string, state: DeliveryDocument['state'], timeoutMs = 30_000) =>
      until(
        `${alertId} to ${channelId} is ${state}`,
        async () => {
          const delivery = await deliveries.findOne({ _id: deliveryIdOf(alertId, channelId) })
          return delivery?.state === state && delivery
        },
        { timeoutMs },
      ),
    async stop() {
      await app.stop()
      await producer.stop()
      await egress.stop()
      await mongo.stop()
      for (const receiver of receivers) await receiver.stop()
      await stack.close()
    },
  }
}
