/**
 * A storm of unexplained refunds on real Kafka, MongoDB, HTTP and SMTP. It has a thousand refunds by default, so that the
 * test is fast; BACKSTOP_STORM_ACTIONS=10000 runs the promised number.
 */

import { createSmtpMailer } from '@backstop/channels/deliver'
import { alert, emailChannel, secretBox, slackChannel, webhookChannel } from '@backstop/channels/test'
import {
  type Alert,
  COLLECTIONS,
  type CollectionDefinition,
  type DeliveryDocument,
  RETRY_RUNGS,
  type Storm,
  type StormDocument,
  type StormMemberDocument,
  type TopicName,
} from '@backstop/contracts'
import { connectMongo, createEgress, createMetrics, Secret, systemClock } from '@backstop/kit'
import { createFixedCodec, type Receiver, startReceiver, testStack, until } from '@backstop/kit/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApp } from '../src/app.ts'
import { openStores } from '../src/start.ts'

const ACTIONS = Number(process.env.BACKSTOP_STORM_ACTIONS ?? 1_000)
const BATCH = 1_000
const MOST_MESSAGES = 20
const codec = createFixedCodec()
const cleanUps: (() => Promise<unknown>)[] = []
let stack: Awaited<ReturnType<typeof testStack>>
let mongo: ReturnType<typeof connectMongo>
let receiver: Receiver
let publish: (alerts: readonly Alert[]) => Promise<void>
let mailAddress: string

beforeAll(async () => {
  stack = await testStack()
  cleanUps.push(() => stack.close())
  const topics = ['alerts', 'commands', 'deliveries', 'deliveries.dead', ...RETRY_RUNGS.map(rung => rung.topic)]
  await stack.createTopics(topics as TopicName[], 8)
  mongo = connectMongo({ url: stack.mongoUrl, dbName: stack.dbName, appName: 'storms-test' })
  cleanUps.push(() => mongo.stop())
  for (const name of ['storms', 'storm_members', 'deliveries'] as const) {
    const { indexes }: CollectionDefinition = COLLECTIONS[name]
    for (const { keys, options } of indexes) await mongo.db.collection(name).createIndex(keys, options ?? {})
  }
  const producer = stack.bus().producer({ sendTimeoutMs: 10_000 })
  await producer.start()
  cleanUps.push(() => producer.stop())
  publish = alerts =>
    producer.send(
      alerts.map(one => ({ topic: 'alerts', key: one.project_id, value: codec.encode('alert', one), headers: {} })),
    )
  receiver = await startReceiver()
  receiver.answer = (_request, response) => void response.writeHead(200).end('ok')
  cleanUps.push(() => receiver.stop())
  mailAddress = `storm+${stack.dbName}@example.com`
  const channels = [
    slackChannel('chn_slack', `${receiver.url}/slack`),
    emailChannel('chn_mail', [mailAddress]),
    webhookChannel('chn_hook', `${receiver.url}/hook`),
    slackChannel('chn_other', `${receiver.url}/other`, { project_id: 'prj_other' }),
  ]
  await mongo.db.collection<(typeof channels)[number]>('channels').insertMany(channels)
  // Two notifiers, as in production.
  for (const _ of [1, 2]) await startNotifier()
}, 60_000)
afterAll(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp()
})

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

const ofChannel = (channel_id: string) =>
  mongo.db.collection<DeliveryDocument>('deliveries').find({ channel_id, state: 'delivered' }).toArray()
const countOf = (channel_id: string) =>
  mongo.db.collection<DeliveryDocument>('deliveries').countDocuments({ channel_id, state: 'delivered' })

/** Publishes an alert of another project. @returns the time until its receiver has it, in milliseconds */
async function timeOfOtherAlert(id: string): Promise<number> {
  const begin = performance.now()
  const known = receiver.requests.filter(({ path }) => path === '/other').length
  const at = new Date().toISOString()
  await publish([alert({ id: `alr_${id}`, project: 'prj_other', at, incident: { connection_id: 'con_other' } })])
  const has = () => receiver.requests.filter(({ path }) => path === '/other').length > known
  await until(`the other project has its ${id} alert`, has, { timeoutMs: 60_000, everyMs: 20 })
  return Math.round(performance.now() - begin)
}

test('thousands of refunds at once are at most twenty messages for people, and each one for programs', async () => {
  const opened_at = new Date().toISOString()
  const refund = (index: number): Alert => {
    const one = alert({ id: `alr_${index}`, at: opened_at, incident: { opened_at } })
    if (one.event !== 'incident.opened' || one.data.action === null) throw new Error('Another event')
    return { ...one, data: { ...one.data, action: { ...one.data.action, amount: 100 + index } } }
  }
  const calmMs = await timeOfOtherAlert('calm')
  for (let index = 0; index < ACTIONS; index += BATCH) {
    await publish(Array.from({ length: Math.min(BATCH, ACTIONS - index) }, (_, offset) => refund(index + offset)))
  }
  const stormyMs = await timeOfOtherAlert('stormy')
  const deliveredBefore = await countOf('chn_hook')
  const storm = await until(
    'the storm has ended and everything is delivered',
    async () => {
      const [storm] = await mongo.db.collection<StormDocument>('storms').find().toArray()
      if (storm?.state !== 'ended' || storm.outbox?.length !== 0) return false
      const [hook, slack, mail] = await Promise.all(['chn_hook', 'chn_slack', 'chn_mail'].map(countOf))
      return hook === ACTIONS && slack === 9 + storm.report && mail === slack && storm
    },
    { timeoutMs: 380_000, everyMs: 1_000 },
  )
  const members = mongo.db.collection<StormMemberDocument>('storm_members')
  const [sum] = await members
    .aggregate<{ count: number; amount: number; largest: number }>([
      { $match: { storm_id: storm._id } },
      { $group: { _id: null, count: { $sum: 1 }, amount: { $sum: '$amount' }, largest: { $max: '$amount' } } },
    ])
    .toArray()
  expect(sum).toMatchObject({ count: ACTIONS, amount: (ACTIONS * (2 * 100 + ACTIONS - 1)) / 2, largest: ACTIONS + 99 })
  for (const channelId of ['chn_slack', 'chn_mail']) {
    const told = await ofChannel(channelId)
    expect(told.length).toBeLessThanOrEqual(MOST_MESSAGES)
    expect(told.filter(one => one.event === 'incident.opened')).toHaveLength(9)
    const reports = told.flatMap(({ alert: one }): Storm[] => (one.event === 'storm.reported' ? [one.data.storm] : []))
    const last = reports.find(({ report }) => report === storm.report)
    expect(last).toMatchObject({
      state: 'ended',
      count: sum?.count,
      money: [{ currency: 'eur', amount: sum?.amount, count: ACTIONS, largest: sum?.largest }],
    })
  }
  const slackPosts = receiver.requests.filter(({ path }) => path === '/slack')
  expect(slackPosts.length).toBeLessThanOrEqual(MOST_MESSAGES)
  const ids = receiver.requests.filter(({ path }) => path === '/hook').map(({ headers }) => headers['webhook-id'])
  expect(new Set(ids).size).toBe(ACTIONS)
  const mails = (await (await fetch(`${stack.mailUrl}/api/email`)).json()) as { to: { address: string }[] }[]
  expect(mails.filter(({ to }) => to.some(one => one.address === mailAddress)).length).toBeLessThanOrEqual(
    MOST_MESSAGES,
  )
  // The alert of the other project does not wait for the storm before it.
  expect(deliveredBefore).toBeLessThan(ACTIONS)
  process.stdout.write(
    `${sum?.count} refunds; alert of another project: ${calmMs} ms before the storm, ${stormyMs} ms during it, then ${deliveredBefore} were delivered\n`,
  )
}, 600_000)
