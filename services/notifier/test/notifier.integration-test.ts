/** The notifier on real Kafka, MongoDB, HTTP and SMTP. */

import type { ChannelDocument } from '@backstop/channels'
import { createSmtpMailer } from '@backstop/channels/deliver'
import { alert, emailChannel, secretBox, slackChannel, webhookChannel } from '@backstop/channels/test'
import {
  type Alert,
  type ChannelHealthDocument,
  type DeliveryDocument,
  deterministicId,
  HEADERS,
  RETRY_RUNGS,
  type TopicName,
} from '@backstop/contracts'
import type { IncomingMessage, Producer } from '@backstop/kit/bus'
import { systemClock } from '@backstop/kit/clock'
import { Secret } from '@backstop/kit/config'
import { createEgress, type Egress } from '@backstop/kit/egress'
import { connectMongo, type Mongo } from '@backstop/kit/mongo'
import { createMetrics } from '@backstop/kit/ops'
import { createFixedCodec, type Receiver, startReceiver, type TestStack, testStack, until } from '@backstop/kit/test'
import { Webhook } from 'standardwebhooks'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createApp, type NotifierApp } from '../src/app.ts'
import { completeAlert } from '../src/fan-out/rules/complete-alert.ts'
import { openStores } from '../src/start.ts'
import { DEFAULT_STORM_SETTINGS } from '../src/storm/rules/storm-settings.ts'

const codec = createFixedCodec()
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
let stack: TestStack
let mongo: Mongo
let egress: Egress
let producer: Producer
let app: NotifierApp
const receivers: Receiver[] = []
let sequence = 0

beforeAll(async () => {
  stack = await testStack()
  await stack.createTopics(
    ['alerts', 'commands', 'deliveries', 'deliveries.dead', ...RETRY_RUNGS.map(rung => rung.topic)] as TopicName[],
    1,
  )
  mongo = connectMongo({ url: stack.mongoUrl, dbName: stack.dbName, appName: 'notifier-test' })
  egress = createEgress({ allowCidrs: ['127.0.0.0/8'], denyCidrs: [], logger: stack.logger })
  producer = stack.bus().producer({ sendTimeoutMs: 10_000 })
  await producer.start()
  app = newApp()
  await app.start()
})
afterAll(async () => {
  await app?.stop()
  await producer?.stop()
  await egress?.stop()
  await mongo?.stop()
  await stack?.close()
})
afterEach(async () => {
  for (const receiver of receivers.splice(0)) await receiver.stop()
})
beforeEach(() => {
  sequence++
})

function newApp(): NotifierApp {
  return createApp(
    {
      bus: stack.bus(),
      codec,
      clock: systemClock,
      ...openStores(mongo),
      egress,
      mailer: createSmtpMailer({
        url: new Secret(stack.smtpUrl),
        from: 'Backstop <alerts@example.com>',
        requireTls: true,
      }),
      secretBox,
      logger: stack.logger,
      metrics: createMetrics('notifier'),
      canOpenSecrets: async () => true,
      isOverloaded: () => false,
      onFatal: error => stack.logger.fatal({ error }, 'fatal'),
    },
    {
      publicUrl: 'https://console.example.com',
      brandName: 'Backstop',
      apiPublicUrl: 'https://api.example.com',
      maxActive: 100,
      storms: DEFAULT_STORM_SETTINGS,
      maxQueuedPerChannel: 100,
    },
  )
}

/** Each test has its own project, so that it receives only its own alerts. */
const project = () => `prj_${sequence}`
const channelId = (name: string) => `chn_${sequence}_${name}`

async function receiver(answer?: Receiver['answer']): Promise<Receiver> {
  const started = await startReceiver(answer)
  receivers.push(started)
  return started
}

async function put(...channels: ChannelDocument[]): Promise<void> {
  await mongo.db.collection<ChannelDocument>('channels').insertMany(channels)
}

async function publish(...alerts: Alert[]): Promise<void> {
  await producer.send(
    alerts.map(one => ({
      topic: 'alerts' as const,
      key: one.project_id,
      value: codec.encode('alert', one),
      headers: {},
    })),
  )
}

/** Each test has a connection of its own, because many alerts of one connection are a storm. */
const newAlert = (id = `alr_${sequence}`) =>
  alert({
    id,
    project: project(),
    at: new Date().toISOString(),
    incident: { connection_id: `con_${sequence}`, storm_id: null },
  })
const deliveryOf = (alertId: string, channel: string) =>
  mongo.db.collection<DeliveryDocument>('deliveries').findOne({ _id: deterministicId('delivery', alertId, channel) })
const ended = (alertId: string, channel: string, state: DeliveryDocument['state']) =>
  until(`${alertId} to ${channel} is ${state}`, async () => {
    const delivery = await deliveryOf(alertId, channel)
    return delivery?.state === state && delivery
  })

describe('a webhook channel', () => {
  test('gets a signed document that the public verifier accepts', async () => {
    const endpoint = await receiver()
    const id = channelId('hook')
    await put(webhookChannel(id, `${endpoint.url}/hook`, SECRET, { project_id: project() }))
    const sent = newAlert()
    await publish(sent)
    const delivery = await ended(sent.alert_id, id, 'delivered')
    expect(endpoint.requests).toHaveLength(1)
    const known = { names: undefined, erasedActions: new Set<string>(), publicUrl: 'https://console.example.com' }
    const request = endpoint.requests[0]!
    expect(new Webhook(SECRET).verify(request.body, request.headers)).toEqual({
      id: sent.alert_id,
      event: 'incident.opened',
      created_at: sent.created_at,
      project_id: project(),
      data: completeAlert(sent, known).data,
    })
    expect(() => new Webhook(SECRET).verify(`${request.body} `, request.headers)).toThrow()
    expect(request.headers).toMatchObject({ 'webhook-id': delivery._id, 'content-type': 'application/json' })
    expect(request.headers['x-service-signature']).toMatch(/^sha256=[0-9a-f]{64}$/)
    expect(delivery).toMatchObject({ attempts: [{ attempt: 1, status: 200, response: 'ok' }], next_attempt: null })
  })

  test('that fails is tried again on Kafka’s delay line: after five seconds, with the same id and bytes', async () => {
    const endpoint = await receiver((_request, response) => {
      response.writeHead(endpoint.requests.length === 1 ? 500 : 200).end()
    })
    const id = channelId('hook')
    await put(webhookChannel(id, endpoint.url, SECRET, { project_id: project() }))
    const sent = newAlert()
    await publish(sent)
    const waiting = await ended(sent.alert_id, id, 'retrying')
    expect(waiting.next_attempt).toMatchObject({ attempt: 2, topic: 'deliveries.retry.5s' })
    const delivery = await ended(sent.alert_id, id, 'delivered')
    const [first, second] = endpoint.requests
    expect(second!.atMs - first!.atMs).toBeGreaterThanOrEqual(5_000)
    expect(second!.atMs - first!.atMs).toBeLessThan(8_000)
    expect(second!.body.equals(first!.body)).toBe(true)
    expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id'])
    expect(delivery.attempts.map(row => row.outcome)).toEqual(['failed', 'delivered'])
  })

  test('whose receiver answers 410 is visibly disabled and gets no further alerts; missed alerts are listed', async () => {
    const closed = await receiver((_request, response) => void response.writeHead(410).end('moved away'))
    const fine = await receiver()
    await put(
      webhookChannel(channelId('gone'), closed.url, undefined, { project_id: project() }),
      webhookChannel(channelId('fine'), fine.url, undefined, { project_id: project() }),
    )
    const first = newAlert()
    await publish(first)
    const dead = await ended(first.alert_id, channelId('gone'), 'dead')
    expect(dead).toMatchObject({ attempts: [{ status: 410, response: 'moved away' }], next_attempt: null })
    // The order of writes: delivery, channel health, dead letter.
    await until('its dead letter', async () => (await deadLetters()).some(letter => letter.key === channelId('gone')))
    const health = await mongo.db
      .collection<ChannelHealthDocument>('channel_health')
      .findOne({ _id: channelId('gone') })
    expect(health).toMatchObject({ disabled_at: expect.any(Date), disabled_reason: expect.stringMatching(/410 Gone/) })
    const second = newAlert(`alr_${sequence}_second`)
    await publish(second)
    await ended(second.alert_id, channelId('fine'), 'delivered')
    expect(await ended(second.alert_id, channelId('gone'), 'dead')).toMatchObject({ attempts: [], next_attempt: null })
    expect(closed.requests).toHaveLength(1)
  })

  test('that hangs does not delay another one in the same partition', async () => {
    const dead = await receiver(() => {})
    const fine = await receiver()
    await put(
      webhookChannel(channelId('dead'), dead.url, undefined, { project_id: project() }),
      webhookChannel(channelId('fine'), fine.url, undefined, { project_id: project() }),
    )
    const alerts = Array.from({ length: 120 }, (_, index) => newAlert(`alr_${sequence}_${index}`))
    const publishedAtMs = Date.now()
    for (let index = 0; index < alerts.length; index += 20) await publish(...alerts.slice(index, index + 20))
    await until('all reach the channel that works', () => fine.requests.length === alerts.length)
    // Each delivery of the hanging channel takes 20 s.
    expect(fine.requests.at(-1)!.atMs - publishedAtMs).toBeLessThan(15_000)
    expect(dead.requests.length).toBeGreaterThan(0)
    expect(dead.requests.length).toBeLessThanOrEqual(4)
  })
})

test('a Slack channel gets blocks, or plain text if Slack rejects the blocks', async () => {
  const slack = await receiver((request, response) => {
    const refused = request.path.endsWith('/picky') && request.body.includes('"blocks"')
    response.writeHead(refused ? 400 : 200).end(refused ? 'invalid_payload' : 'ok')
  })
  await put(
    slackChannel(channelId('blocks'), `${slack.url}/services/T0/B0/plain`, { project_id: project() }),
    slackChannel(channelId('picky'), `${slack.url}/services/T0/B0/picky`, { project_id: project() }),
  )
  const sent = newAlert()
  await publish(sent)
  await ended(sent.alert_id, channelId('blocks'), 'delivered')
  await ended(sent.alert_id, channelId('picky'), 'delivered')
  const bodiesOf = (path: string) =>
    slack.requests.filter(request => request.path.endsWith(path)).map(request => JSON.parse(`${request.body}`))
  expect(bodiesOf('/plain')).toMatchObject([{ text: expect.stringContaining('EUR 24.99'), blocks: expect.any(Array) }])
  const [refused, accepted] = bodiesOf('/picky')
  expect(refused).toHaveProperty('blocks')
  expect(accepted).toEqual({ text: expect.stringContaining('\nReference: ') })
})

test('an e-mail channel gets a mail with text, HTML and a Message-ID of the delivery', async () => {
  const address = `ops+${stack.dbName}@example.com`
  await put(emailChannel(channelId('mail'), [address], { project_id: project() }))
  const sent = newAlert()
  await publish(sent)
  const delivery = await ended(sent.alert_id, channelId('mail'), 'delivered')
  expect(delivery.attempts).toMatchObject([{ status: 250 }])
  const mail = await until('the mail is caught', async () => {
    const response = await fetch(`${stack.mailUrl}/api/email`)
    const mails = (await response.json()) as CaughtMail[]
    return mails.find(one => one.to.some(to => to.address === address))
  })
  expect(mail.subject).toBe('[Backstop] Unexplained refund of EUR 24.99')
  expect(mail.text).toContain(`https://console.example.com/p/${project()}/incidents/`)
  expect(mail.html).toContain('Unexplained refund')
  expect(mail.headers['message-id']).toMatch(new RegExp(`^<${delivery._id}\\.[0-9a-f]{12}@example\\.com>$`))
  expect(mail.text).toContain('https://api.example.com/v1/unsubscribe/')
  expect(mail.headers['auto-submitted']).toBe('auto-generated')
})

test('a restarted notifier delivers each alert of the meantime once', async () => {
  const endpoint = await receiver()
  const id = channelId('hook')
  await put(webhookChannel(id, endpoint.url, undefined, { project_id: project() }))
  const before = newAlert(`alr_${sequence}_before`)
  await publish(before)
  await ended(before.alert_id, id, 'delivered')
  await app.stop()
  const meanwhile = Array.from({ length: 20 }, (_, index) => newAlert(`alr_${sequence}_${index}`))
  await publish(...meanwhile)
  app = newApp()
  await app.start()
  for (const one of meanwhile) await ended(one.alert_id, id, 'delivered')
  expect(endpoint.requests).toHaveLength(21)
})

interface CaughtMail {
  subject: string
  text: string
  html: string
  to: { address: string }[]
  headers: Record<string, string>
}

/** All messages on `deliveries.dead` so far. */
async function deadLetters(): Promise<IncomingMessage[]> {
  const letters: IncomingMessage[] = []
  const consumer = stack.bus().consumer({
    groupId: `letters-${sequence}`,
    topics: ['deliveries.dead'],
    commit: 'accepted',
    onBatch: async ({ messages }) => {
      letters.push(...messages)
      return { accepted: messages.length }
    },
    onFatal: () => {},
  })
  await consumer.start()
  await until('a dead letter', () => letters.some(letter => letter.headers[HEADERS.errorCode] === 'receiver_gone'))
  await consumer.stop()
  return letters
}
