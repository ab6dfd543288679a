/** Two notifiers, as in production, on real Kafka, MongoDB, HTTP and SMTP, and the alerts of a storm for them. */

import { createSmtpMailer } from '@backstop/channels/deliver'
import { alert, emailChannel, pagerDutyChannel, secretBox, slackChannel, webhookChannel } from '@backstop/channels/test'
import {
  type Alert,
  COLLECTIONS,
  type CollectionDefinition,
  type DeliveryDocument,
  RETRY_RUNGS,
  type TopicName,
} from '@backstop/contracts'
import { systemClock } from '@backstop/kit/clock'
import { Secret } from '@backstop/kit/config'
import { createEgress } from '@backstop/kit/egress'
import { connectMongo } from '@backstop/kit/mongo'
import { createMetrics } from '@backstop/kit/ops'
import { createFixedCodec, startReceiver, testStack, until } from '@backstop/kit/test'
import { createApp } from '../src/app.ts'
import { openStores } from '../src/start.ts'

export type StormWorld = Awaited<ReturnType<typeof openStormWorld>>

/** Starts the notifiers and a receiver. The project of the storm has a Slack, a mail, a webhook and a PagerDuty channel, and `prj_other` a webhook. */
export async function openStormWorld() {
  const cleanUps: (() => Promise<unknown>)[] = []
  const codec = createFixedCodec()
  const stack = await testStack()
  cleanUps.push(() => stack.close())
  const topics = ['alerts', 'commands', 'deliveries', 'deliveries.dead', ...RETRY_RUNGS.map(rung => rung.topic)]
  await stack.createTopics(topics as TopicName[], 8)
  const mongo = connectMongo({ url: stack.mongoUrl, dbName: stack.dbName, appName: 'storms-test' })
  cleanUps.push(() => mongo.stop())
  for (const name of ['storms', 'storm_members', 'deliveries'] as const) {
    const { indexes }: CollectionDefinition = COLLECTIONS[name]
    for (const { keys, options } of indexes) await mongo.db.collection(name).createIndex(keys, options ?? {})
  }
  const producer = stack.bus().producer({ sendTimeoutMs: 10_000 })
  await producer.start()
  cleanUps.push(() => producer.stop())
  const receiver = await startReceiver()
  receiver.answer = ({ path }, response) => void response.writeHead(path === '/pager' ? 202 : 200).end('ok')
  cleanUps.push(() => receiver.stop())
  const mailAddress = `storm+${stack.dbName}@example.com`
  const channels = [
    slackChannel('chn_slack', `${receiver.url}/slack`),
    emailChannel('chn_mail', [mailAddress]),
    webhookChannel('chn_hook', `${receiver.url}/hook`),
    pagerDutyChannel('chn_pager', `${receiver.url}/pager`, '0'.repeat(32), {
      events: ['incident.opened', 'incident.acknowledged', 'incident.resolved'],
    }),
    // A webhook, because Slack gets one message a second at most.
    webhookChannel('chn_other', `${receiver.url}/other`, {}, { project_id: 'prj_other' }),
  ]
  await mongo.db.collection<(typeof channels)[number]>('channels').insertMany(channels)
  const deliveries = mongo.db.collection<DeliveryDocument>('deliveries')
  const requestsTo = (path: string) => receiver.requests.filter(request => request.path === path)

  async function startNotifier(): Promise<void> {
    const egress = createEgress({ allowCidrs: ['127.0.0.0/8'], denyCidrs: [], logger: stack.logger })
    const from = 'Backstop <alerts@example.com>'
    const mailer = createSmtpMailer({ url: new Secret(stack.smtpUrl), from, requireTls: true })
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
        publicUrl: null,
        brandName: 'Backstop',
        apiPublicUrl: null,
        maxActive: 200,
        maxQueuedPerChannel: 250,
        storms: { from: 10, windowMs: 300_000, quietMs: 10_000 },
      },
    )
    await app.start()
    cleanUps.push(async () => {
      await app.stop()
      await egress.stop()
      await mailer.stop()
    })
  }
  for (const _ of [1, 2]) await startNotifier()

  const publish = (alerts: readonly Alert[]): Promise<void> =>
    producer.send(
      alerts.map(one => ({ topic: 'alerts', key: one.project_id, value: codec.encode('alert', one), headers: {} })),
    )

  return {
    db: mongo.db,
    publish,
    requestsTo,
    countDelivered: (channel_id: string) => deliveries.countDocuments({ channel_id, state: 'delivered' }),
    delivered: (channel_id: string) => deliveries.find({ channel_id, state: 'delivered' }).toArray(),

    /** The number of mails that the mail server has for the mailbox of the storm. */
    async countMails(): Promise<number> {
      const mails = (await (await fetch(`${stack.mailUrl}/api/email`)).json()) as { to: { address: string }[] }[]
      return mails.filter(({ to }) => to.some(one => one.address === mailAddress)).length
    },

    /** Publishes an alert of another project. @returns the time until its receiver has it, in milliseconds */
    async timeOfOtherAlert(id: string): Promise<number> {
      const begin = performance.now()
      const known = requestsTo('/other').length
      const at = new Date().toISOString()
      // Each has its own connection, because ten of one connection would be a storm.
      const incident = { connection_id: `con_other_${id}` }
      await publish([alert({ id: `alr_${id}`, project: 'prj_other', at, incident })])
      const has = () => requestsTo('/other').length > known
      await until(`the other project has its ${id} alert`, has, { timeoutMs: 60_000, everyMs: 5 })
      return Math.round(performance.now() - begin)
    },

    async stop(): Promise<void> {
      for (const cleanUp of cleanUps.reverse()) await cleanUp()
    },
  }
}

/** The alert about the refund with this number, of the connection that has the storm. */
export function refundAlert(index: number): Alert {
  const at = new Date().toISOString()
  const one = alert({ id: `alr_${index}`, at, incident: { opened_at: at } })
  if (one.event !== 'incident.opened' || one.data.action === null) throw new Error('Another event')
  return { ...one, data: { ...one.data, action: { ...one.data.action, amount: 100 + index } } }
}
