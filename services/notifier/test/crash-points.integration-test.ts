/**
 * Kills the notifier with SIGKILL at each crash point outside the path of a delivery, starts it again, and checks
 * Kafka, MongoDB and the receiver. A scenario kills it at each of its crash points in turn: each start continues from the
 * data that the crash before it left. Crash points of a delivery: test/faults/crash-points.system-test.ts.
 */
import { fileURLToPath } from 'node:url'
import type { ChannelDocument } from '@backstop/channels'
import { alert, incidentAlerts, PROJECT, slackChannel, webhookChannel } from '@backstop/channels/test'
import {
  type Alert,
  type ChannelHealthDocument,
  COLLECTIONS,
  type CollectionDefinition,
  type Command,
  type DeliveryDocument,
  deliveryIdOf,
  RETRY_RUNGS,
  type StormDocument,
  type StormMemberDocument,
  type TopicName,
} from '@backstop/contracts'
import type { Producer } from '@backstop/kit/bus'
import {
  type CrashingProgram,
  crashAtEach,
  createFixedCodec,
  type Receiver,
  readAll,
  startCrashingProgram,
  startReceiver,
  type TestStack,
  testStack,
  until,
} from '@backstop/kit/test'
import { MongoClient } from 'mongodb'
import { afterAll, describe, expect, test } from 'vitest'
import { NOTIFIER_CARE_CRASH_POINTS } from '../src/crash-points.ts'
import { newDelivery } from '../src/delivery-record/delivery-store.ts'
import { disableChannel } from '../src/health/rules/channel-health.ts'

const CHILD = fileURLToPath(new URL('crash-child.ts', import.meta.url))
const TOPICS = ['alerts', 'commands', 'deliveries', 'deliveries.dead', ...RETRY_RUNGS.map(rung => rung.topic)]
const codec = createFixedCodec()
const cleanUps: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp()
})

/** The topics, consumer groups and database of one scenario. */
interface ScenarioStack {
  readonly stack: TestStack
  readonly db: ReturnType<MongoClient['db']>
  readonly receiver: Receiver
  start(crashAt?: string): CrashingProgram
  alert(...alerts: Alert[]): Promise<void>
  command(command: Command): Promise<void>
  delivery(alertId: string): Promise<DeliveryDocument | null>
  health(): Promise<ChannelHealthDocument | null>
}

async function openScenarioStack(): Promise<ScenarioStack> {
  const stack = await testStack()
  cleanUps.push(() => stack.close())
  await stack.createTopics(TOPICS as TopicName[], 1)
  const client = new MongoClient(stack.mongoUrl.reveal())
  cleanUps.push(() => client.close())
  const db = client.db(stack.dbName)
  const receiver = await startReceiver()
  cleanUps.push(() => receiver.stop())
  const events = ['incident.opened', 'incident.resolved'] as const
  const channel = webhookChannel('chn_1', receiver.url, undefined, { name: 'Ops', events: [...events] })
  await db.collection<ChannelDocument>('channels').insertOne(channel)
  const producer: Producer = stack.bus().producer({ sendTimeoutMs: 10_000 })
  await producer.start()
  cleanUps.push(() => producer.stop())
  return {
    stack,
    db,
    receiver,
    start: crashAt => startCrashingProgram(CHILD, stack, crashAt),
    alert: (...alerts) =>
      producer.send(
        alerts.map(alert => ({ topic: 'alerts', key: PROJECT, value: codec.encode('alert', alert), headers: {} })),
      ),
    command: command =>
      producer.send([{ topic: 'commands', key: 'chn_1', value: codec.encode('command', command), headers: {} }]),
    delivery: id => db.collection<DeliveryDocument>('deliveries').findOne({ _id: deliveryIdOf(id, 'chn_1') }),
    health: () => db.collection<ChannelHealthDocument>('channel_health').findOne({ _id: 'chn_1' }),
  }
}

type CrashPoint = (typeof NOTIFIER_CARE_CRASH_POINTS)[number]

interface Scenario {
  /** Its crash points, in the order in which the notifier reaches them. */
  readonly points: readonly [CrashPoint, ...CrashPoint[]]
  /** Stores the data that must exist before the process starts. */
  prepare?(scene: ScenarioStack): Promise<void>
  /** Makes the process reach the crash points. */
  reachCrashPoints(scene: ScenarioStack): Promise<void>
  /** Waits for the expected result after the last restart. */
  expectResult(scene: ScenarioStack): Promise<void>
}

const within = { timeoutMs: 60_000 }
const status = (scene: ScenarioStack, code: number) => {
  scene.receiver.answer = (_request, response) => void response.writeHead(code).end('x')
}
const accepted = ({ receiver }: ScenarioStack) => receiver.requests.map(request => JSON.parse(String(request.body)))
const commandsOf = async (scene: ScenarioStack, enough: number) => {
  const messages = await readAll(scene.stack, 'commands', all => all.length >= enough)
  return Promise.all(messages.map(({ value }) => codec.decode('command', value)))
}

const disabling: Scenario = {
  points: ['notifier.after-disable', 'notifier.after-publish'],
  async reachCrashPoints(scene) {
    status(scene, 410)
    await scene.alert(alert())
  },
  async expectResult(scene) {
    const health = await until(
      'the command is published',
      async () => {
        const known = await scene.health()
        return known?.outbox?.length === 0 && known
      },
      within,
    )
    expect(health).toMatchObject({ disabled_at: expect.any(Date), disabled_reason: expect.stringContaining('410') })
    const commands = await commandsOf(scene, 1)
    expect(new Set(commands.map(command => command.command_id)).size).toBe(1)
    expect(commands[0]).toMatchObject({
      kind: 'open_channel_incident',
      incident_id: health.disabled_incident_id,
      channel_name: 'Ops',
    })
    expect((await scene.delivery('alr_1'))?.state).toBe('dead')
    expect(scene.receiver.requests).toHaveLength(1)
  },
}

/** Stores a delivery that ended without success. */
async function storeDeadDelivery(scene: ScenarioStack): Promise<void> {
  const document = newDelivery(
    { ...requestOf(alert()), attempt: 1, test: false, alert: alert() },
    'webhook',
    Date.now() - 1_000,
  )
  await scene.db
    .collection<DeliveryDocument>('deliveries')
    .insertOne({ ...document, state: 'dead', reason: 'Given up', next_attempt: null })
}

const requestOf = ({ alert_id }: Alert) => ({
  delivery_id: deliveryIdOf(alert_id, 'chn_1'),
  project_id: PROJECT,
  channel_id: 'chn_1',
})
const common = () => ({ command_id: 'cmd_1', project_id: PROJECT, requested_at: new Date().toISOString() })

const requeueing: Scenario = {
  points: ['notifier.after-requeue', 'notifier.after-requeue-produce'],
  prepare: storeDeadDelivery,
  reachCrashPoints: scene =>
    scene.command({ ...common(), kind: 'retry_delivery', delivery_id: requestOf(alert()).delivery_id }),
  async expectResult(scene) {
    await until('it is delivered', async () => (await scene.delivery('alr_1'))?.state === 'delivered', within)
    expect(scene.receiver.requests).toHaveLength(1)
    expect((await scene.delivery('alr_1'))?.attempts).toHaveLength(1)
  },
}

const STORM_SIZE = 25

/** More unexplained actions than a storm needs, on a channel for programs and one for people. */
const storming: Scenario = {
  points: [
    'notifier.storm.after-members',
    'notifier.storm.after-adopt',
    'notifier.storm.after-begin',
    'notifier.storm.after-report',
    'notifier.storm.after-publish',
  ],
  async prepare(scene) {
    scene.receiver.answer = (_request, response) => void response.writeHead(200).end('ok')
    const people = slackChannel('chn_people', `${scene.receiver.url}/people`)
    await scene.db.collection<ChannelDocument>('channels').insertOne(people)
    const { indexes }: CollectionDefinition = COLLECTIONS.storms
    for (const { keys, options } of indexes) await scene.db.collection('storms').createIndex(keys, options ?? {})
  },
  async reachCrashPoints(scene) {
    const opened_at = new Date().toISOString()
    const all = Array.from({ length: STORM_SIZE }, (_, index) =>
      alert({ id: `alr_${index}`, at: opened_at, incident: { opened_at } }),
    )
    await scene.alert(...all.slice(0, 7))
    await scene.alert(...all.slice(7))
  },
  async expectResult(scene) {
    const deliveries = scene.db.collection<DeliveryDocument>('deliveries')
    const storms = scene.db.collection<StormDocument>('storms')
    const [told, storm] = await until(
      'people have nine messages and each report, and programs every alert',
      async () => {
        const [toPeople, toPrograms, [storm]] = await Promise.all([
          deliveries.find({ channel_id: 'chn_people', state: 'delivered' }).toArray(),
          deliveries.countDocuments({ channel_id: 'chn_1', state: 'delivered' }),
          storms.find().toArray(),
        ])
        const isComplete =
          toPrograms === STORM_SIZE && storm?.outbox?.length === 0 && toPeople.length === 9 + storm.report
        return isComplete && ([toPeople, storm] as const)
      },
      { timeoutMs: 120_000 },
    )
    const opened = told.filter(one => one.event === 'incident.opened').map(one => one.alert_id)
    expect(opened.sort()).toEqual(Array.from({ length: 9 }, (_, index) => `alr_${index}`))
    const members = await scene.db.collection<StormMemberDocument>('storm_members').find().toArray()
    expect(members).toHaveLength(STORM_SIZE)
    expect(new Set(members.map(member => member.storm_id))).toEqual(new Set([storm._id]))
    expect(members.filter(member => member.alone)).toHaveLength(9)
    expect(await storms.countDocuments()).toBe(1)
    const posts = scene.receiver.requests.filter(({ path }) => path === '/people')
    expect(posts).toHaveLength(told.length)
    for (const { alert: one } of told) {
      if (one.event !== 'storm.reported') continue
      expect(one.data.storm.count).toBeGreaterThanOrEqual(10)
      expect(one.data.storm.count).toBeLessThanOrEqual(STORM_SIZE)
    }
  },
}

/** The last open incident of a storm that has ended. */
const resolvingStorm: Scenario = {
  points: ['notifier.storm.after-resolve'],
  async prepare(scene) {
    await storming.prepare?.(scene)
    const at = new Date(Date.now() - 60_000)
    const member = (index: number): StormMemberDocument => ({
      _id: `inc_${index}`,
      project_id: PROJECT,
      connection_id: 'con_1',
      action_id: `act_${index}`,
      provider: 'processor',
      kind: 'refund',
      opened_at: at,
      storm_id: 'stm_1',
      alone: false,
      amount: 100,
      currency: 'eur',
      state: 'succeeded',
      subject: 'pi_1',
      facts: {
        channel: null,
        key_name: null,
        user_fingerprint: null,
        mode: null,
        customer_id: null,
        refund_reason: null,
      },
      recorded_at: at,
      acknowledged_at: null,
      resolved_at: index === 0 ? null : at,
      explained: index !== 0,
    })
    const members = Array.from({ length: 10 }, (_, index) => member(index))
    await scene.db.collection<StormMemberDocument>('storm_members').insertMany(members)
    await scene.db.collection<StormDocument>('storms').insertOne({
      _id: 'stm_1',
      project_id: PROJECT,
      connection_id: 'con_1',
      provider: 'processor',
      state: 'ended',
      began_at: at,
      last_member_at: at,
      version: 1,
      report: 2,
      reported_at: at,
      reported_version: 1,
      reported_incidents: 10,
      reported_resolved: 9,
      reported_unacknowledged: 1,
      acknowledgements: 0,
      seen_acknowledgements: 0,
      ended_at: at,
    })
  },
  reachCrashPoints: scene => scene.alert(incidentAlerts('inc_0').resolved),
  async expectResult(scene) {
    const storms = scene.db.collection<StormDocument>('storms')
    const storm = await until(
      'the report that all are resolved is published',
      async () => {
        const storm = await storms.findOne({ _id: 'stm_1' })
        return storm?.report === 3 && storm.outbox?.length === 0 && storm
      },
      within,
    )
    expect(storm).toMatchObject({ state: 'ended', reported_resolved: 10 })
    const deliveries = scene.db.collection<DeliveryDocument>('deliveries')
    const isDelivered = { channel_id: 'chn_people', state: 'delivered' } as const
    await until('people have it', async () => (await deliveries.countDocuments(isDelivered)) === 1, within)
    const [told] = await deliveries.find(isDelivered).toArray()
    expect(told?.alert).toMatchObject({
      event: 'storm.reported',
      data: { storm: { report: 3, count: 10, resolved: 10 } },
    })
    expect(scene.receiver.requests.filter(({ path }) => path === '/people')).toHaveLength(1)
  },
}

const enabling: Scenario = {
  points: ['notifier.after-enable'],
  async prepare(scene) {
    const { incidentId, reason } = disableChannel(
      { channelId: 'chn_1', projectId: PROJECT, name: 'Ops' },
      'Gone',
      Date.now() - 60_000,
    )
    await scene.db.collection<ChannelHealthDocument>('channel_health').insertOne({
      _id: 'chn_1',
      project_id: PROJECT,
      disabled_at: new Date(Date.now() - 60_000),
      disabled_reason: reason,
      disabled_incident_id: incidentId,
      last_success_at: null,
      last_failure_at: null,
      last_error: null,
    })
  },
  reachCrashPoints: scene => scene.command({ ...common(), kind: 'enable_channel', channel_id: 'chn_1' }),
  async expectResult(scene) {
    await until('its command is published', async () => (await scene.health())?.outbox?.length === 0, within)
    expect(await scene.health()).toMatchObject({ disabled_at: null, failing_since: null })
    const commands = (await commandsOf(scene, 2)).filter(command => command.kind === 'resolve_channel_incident')
    expect(new Set(commands.map(command => command.command_id)).size).toBe(1)
  },
}

const superseding: Scenario = {
  points: ['notifier.after-supersede'],
  async prepare(scene) {
    const { opened } = incidentAlerts('inc_1')
    const document = newDelivery({ ...requestOf(opened), attempt: 2, test: false, alert: opened }, 'webhook', 0)
    await scene.db.collection<DeliveryDocument>('deliveries').insertOne({ ...document, state: 'retrying' })
  },
  reachCrashPoints: scene => scene.alert(incidentAlerts('inc_1').resolved),
  async expectResult(scene) {
    const { opened, resolved } = incidentAlerts('inc_1')
    const received = await until(
      'the resolve is delivered',
      async () => {
        const delivery = await scene.delivery(resolved.alert_id)
        return delivery?.state === 'delivered' && delivery
      },
      within,
    )
    expect(accepted(scene)).toMatchObject([{ event: 'incident.resolved', data: { supersedes: opened.alert_id } }])
    expect(await scene.delivery(opened.alert_id)).toMatchObject({ state: 'superseded', told_by: received._id })
  },
}

const postponing: Scenario = {
  points: ['notifier.after-postpone'],
  async reachCrashPoints(scene) {
    status(scene, 500)
    const at = new Date().toISOString()
    await scene.alert(...Array.from({ length: 20 }, (_, index) => alert({ id: `alr_${index}`, at })))
  },
  async expectResult(scene) {
    scene.receiver.requests.length = 0
    status(scene, 200)
    const deliveries = scene.db.collection<DeliveryDocument>('deliveries')
    await until('all are delivered', async () => (await deliveries.countDocuments({ state: 'delivered' })) === 20, {
      timeoutMs: 120_000,
    })
    const ids = scene.receiver.requests.map(request => request.headers['webhook-id'])
    expect(ids).toHaveLength(20)
    expect(new Set(ids).size).toBe(20)
  },
}

const SCENARIOS = { disabling, enabling, requeueing, superseding, postponing, storming, resolvingStorm }

test('the scenarios reach each crash point once', () => {
  const points = Object.values(SCENARIOS).flatMap(scenario => scenario.points)
  expect(points.sort()).toEqual([...NOTIFIER_CARE_CRASH_POINTS].sort())
})

describe.concurrent('killed and started again', { timeout: 240_000 }, () => {
  test.each(Object.entries(SCENARIOS))(
    'at each crash point while %s, the notifier loses and doubles nothing',
    async (_name, { points, prepare, reachCrashPoints, expectResult }) => {
      const scene = await openScenarioStack()
      await prepare?.(scene)
      using _restarted = await crashAtEach(points, scene.start, () => reachCrashPoints(scene))
      await expectResult(scene)
    },
  )
})
