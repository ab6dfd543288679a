/**
 * Kills the reconciler with SIGKILL at each crash point of a command in turn, starts it again, and checks the broker and the
 * database. The crash points of a refund are tested in test/faults/crash-points.system-test.ts.
 */
import { fileURLToPath } from 'node:url'
import {
  type ActionDocument,
  type Command,
  type ConnectionDocument,
  deterministicId,
  type InboxBodyDocument,
  type InboxDocument,
  type InboxReplayDocument,
  type IncidentDocument,
  type IncidentOutcomeDocument,
  incidentAlertId,
} from '@backstop/contracts'
import { crashAtEach, createFixedCodec, readAll, startCrashingProgram, testStack, until } from '@backstop/kit/test'
import { openRequestedIncident } from '@backstop/verdict'
import { type Db, MongoClient } from 'mongodb'
import { afterAll, describe, expect, test } from 'vitest'
import {
  RECONCILER_COMMAND_CRASH_POINTS,
  RECONCILER_INCIDENT_CRASH_POINTS,
  RECONCILER_REPLAY_CRASH_POINTS,
} from '../src/crash-points.ts'

const CHILD = fileURLToPath(new URL('crash-child.ts', import.meta.url))
const codec = createFixedCodec()
const cleanUps: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp()
})

const disabled: Extract<Command, { kind: 'open_channel_incident' }> = {
  kind: 'open_channel_incident',
  command_id: 'cmd_1',
  project_id: 'prj_1',
  requested_at: '2026-11-21T10:00:00.000Z',
  incident_id: 'inc_1',
  channel_id: 'chn_1',
  channel_name: 'Ops',
  reason: 'The receiver answered 410 Gone',
}

const TOPICS = [
  'inbound.processor',
  'inbound.reseller',
  'inbound.subscription',
  'operations',
  'rechecks',
  'rechecks.due',
  'rechecks.unanswered',
  'rereads',
  'rereads.retry',
  'readbacks',
  'commands',
  'incidents',
  'alerts',
  'inbound.dead',
] as const

async function openStack() {
  const stack = await testStack()
  cleanUps.push(() => stack.close())
  await stack.createTopics([...TOPICS], 1)
  const client = new MongoClient(stack.mongoUrl.reveal())
  cleanUps.push(() => client.close())
  const incidents = client.db(stack.dbName).collection<IncidentDocument>('incidents')
  const outcomes = client.db(stack.dbName).collection<IncidentOutcomeDocument>('incident_outcomes')
  const producer = stack.bus().producer({ sendTimeoutMs: 10_000 })
  await producer.start()
  cleanUps.push(() => producer.stop())
  return {
    stack,
    start: (crashAt?: string) => startCrashingProgram(CHILD, stack, crashAt),
    db: client.db(stack.dbName),
    incidents,
    outcomes,
    send: (command: Command) =>
      producer.send([{ topic: 'commands', key: 'chn_1', value: codec.encode('command', command), headers: {} }]),
    isPublished: async () => (await incidents.findOne({ _id: 'inc_1' }))?.outbox?.length === 0,
    /** The ids of the published alerts. An alert that was published again after a crash has the same id. */
    async alertIds() {
      const alerts = await readAll(stack, 'alerts', all => all.length >= 1)
      const decoded = await Promise.all(alerts.map(({ value }) => codec.decode('alert', value)))
      return [...new Set(decoded.map(alert => alert.alert_id))]
    },
  }
}

describe.concurrent('killed and started again', { timeout: 240_000 }, () => {
  test('at each crash point of a disabled channel, the reconciler alerts about it, with one id', async () => {
    const { start, send, isPublished, alertIds } = await openStack()
    using _restarted = await crashAtEach(RECONCILER_COMMAND_CRASH_POINTS, start, () => send(disabled))
    await until('the incident is published', isPublished, { timeoutMs: 60_000 })
    expect(await alertIds()).toEqual([incidentAlertId('inc_1', 'incident.opened')])
  })

  test.each(RECONCILER_INCIDENT_CRASH_POINTS)('at %s, the reconciler changes the incident once', async point => {
    const { stack, incidents, outcomes, send, isPublished, alertIds } = await openStack()
    const { incident } = openRequestedIncident(disabled, Date.parse(disabled.requested_at))
    const { incident_id: _id, ...fields } = incident
    await incidents.insertOne({ _id, ...fields, opened: new Date(incident.opened_at) })
    using doomed = startCrashingProgram(CHILD, stack, point)
    const common = { command_id: 'cmd_ack', project_id: 'prj_1', requested_at: disabled.requested_at } as const
    const wish = { change: { kind: 'acknowledge' }, actor: { kind: 'person', id: 'per_ann', name: 'Ann' } } as const
    const isBulk = point === 'reconciler.after-bulk-page'
    const selection = { states: ['open' as const], to: new Date().toISOString() }
    const outcomeId = isBulk ? deterministicId('command', 'blk_1', _id) : 'cmd_ack'
    await send(
      isBulk
        ? { ...common, ...wish, kind: 'change_incidents', bulk_id: 'blk_1', selection }
        : { ...common, ...wish, kind: 'change_incident', incident_id: _id },
    )
    await doomed.untilKilled()
    using _restarted = startCrashingProgram(CHILD, stack)
    const isDone = async () => (await outcomes.findOne({ _id: outcomeId })) !== null
    await until('the outcome', isDone, { timeoutMs: 60_000 })
    expect(await outcomes.findOne({ _id: outcomeId })).toMatchObject({ outcome: 'changed' })
    expect(await incidents.findOne({ _id })).toMatchObject({ state: 'acknowledged', version: 2, changes: [{}] })
    await until('the change is published', isPublished, { timeoutMs: 60_000 })
    expect(await alertIds()).toEqual([incidentAlertId(_id, 'incident.acknowledged')])
  })

  test('at each crash point of a replay, the reconciler records a dead-lettered event once with one incident and one alert, and a second replay changes nothing', async () => {
    const { start, db, incidents, send, alertIds } = await openStack()
    const { replayDone, storeDeadLetteredRefund } = createReplayFacts(db)
    const inbox = db.collection<InboxDocument>('inbox')
    const actions = db.collection<ActionDocument>('actions')
    const isDecidedBy = (replayId: string) => async () =>
      (await inbox.findOne({ _id: 'con_1/evt_1' }))?.replay_id === replayId
    await storeDeadLetteredRefund()
    const replay = () => send(replayOf('rpl_1'))
    using _restarted = await crashAtEach(RECONCILER_REPLAY_CRASH_POINTS, start, replay)
    expect(await replayDone('rpl_1')).toMatchObject({ total: 1, replayed: 1, skipped_erased: 0 })
    await until('the decision', isDecidedBy('rpl_1'), { timeoutMs: 60_000 })
    const [action, ...others] = await actions.find().toArray()
    expect(others).toEqual([])
    const decided = { outcome: 'recorded', action_ids: [action?._id] }
    expect(await inbox.findOne({ _id: 'con_1/evt_1' })).toMatchObject(decided)
    const expectOneAlert = async () => {
      const [incident, ...more] = await incidents.find().toArray()
      expect(more).toEqual([])
      expect(incident).toMatchObject({ code: 'UNEXPECTED_ACTION', action_id: action?._id, state: 'open' })
      expect(await alertIds()).toEqual([incidentAlertId(incident?._id ?? '', 'incident.opened')])
    }
    await until('the incident', async () => (await incidents.countDocuments()) > 0, { timeoutMs: 90_000 })
    await expectOneAlert()

    await send(replayOf('rpl_2'))
    await until('the second replay', isDecidedBy('rpl_2'), { timeoutMs: 60_000 })
    expect(await inbox.findOne({ _id: 'con_1/evt_1' })).toMatchObject(decided)
    expect(await actions.countDocuments()).toBe(1)
    await expectOneAlert()
  })
})

const AT = '2026-11-21T10:00:00.000Z'

function replayOf(replay_id: string): Command {
  return {
    ...{ kind: 'replay_inbox', command_id: `cmd_${replay_id}`, project_id: 'prj_1', requested_at: AT, replay_id },
    ...{ connection_id: 'con_1', event_ids: ['evt_1'], from: null, to: null, outcome: null },
  }
}

/** A refund that was dead-lettered while its schema could not be read, and the replays of a stack. */
function createReplayFacts(db: Db) {
  const created = Date.parse(AT) / 1000
  const object = {
    ...{ id: 're_1', object: 'refund', amount: 2499, currency: 'eur', charge: 'ch_1', payment_intent: 'pi_1' },
    ...{ created, status: 'succeeded' },
  }
  const body = { id: 'evt_1', object: 'event', type: 'refund.created', created, livemode: true, data: { object } }
  return {
    async storeDeadLetteredRefund() {
      const settings = { kind: 'processor', out_of_band: 'alert', status: 'active', read_key: null, site: null }
      const connection = { _id: 'con_1', project_id: 'prj_1', name: 'Shop', ...settings, created_at: new Date(0) }
      await db.collection<ConnectionDocument>('connections').insertOne(connection as ConnectionDocument)
      const received_at = new Date(AT)
      await db.collection<InboxDocument>('inbox').insertOne({
        ...{ _id: 'con_1/evt_1', project_id: 'prj_1', connection_id: 'con_1', provider: 'processor' },
        ...{ event_id: 'evt_1', event_type: 'refund.created', outcome: 'parked', reason: 'Schema 9 is unknown' },
        ...{ action_ids: [], received_at, processed_at: received_at },
      })
      const stored = { _id: 'con_1/evt_1', received_at, body: JSON.stringify(body) }
      await db.collection<InboxBodyDocument>('inbox_bodies').insertOne(stored)
    },
    replayDone: (id: string) =>
      until(
        `replay ${id}`,
        async () =>
          (await db.collection<InboxReplayDocument>('inbox_replays').findOne({ _id: id, state: 'done' })) ?? undefined,
        { timeoutMs: 90_000 },
      ),
  }
}
