/** The burst alarm over listed actions, with processes that are killed, and with two of them. */
import {
  type ActionDocument,
  type Alert,
  type BurstDocument,
  COLLECTIONS,
  type ConnectionDocument,
  type IncidentDocument,
} from '@backstop/contracts'
import { AppError } from '@backstop/kit/errors'
import { createLogger } from '@backstop/kit/logger'
import { createOutboxPublisher } from '@backstop/kit/outbox'
import { openSimulatedMongo } from '@backstop/kit/simulated-mongo'
import { createFixedCodec, createManualClock, createMemoryBus } from '@backstop/kit/test'
import { PROJECT } from '@backstop/verdict/test'
import { expect, test } from 'vitest'
import { createBurstWatch } from '../src/bursts/burst-watch.ts'
import { openStores } from '../src/stores.ts'
import { connectionOf } from './connection-of.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const DAY = 24 * 60 * MINUTE

/** One account with two weeks of software that reports first. */
async function openAccount(connection: Partial<ConnectionDocument> = {}, hasExecuted = true) {
  const clock = createManualClock()
  const { mongo } = openSimulatedMongo(COLLECTIONS)
  const { db } = mongo
  const stores = openStores(mongo)
  const bus = createMemoryBus({ clock, partitions: 1 })
  const codec = createFixedCodec()
  const producer = bus.producer({ sendTimeoutMs: SECOND })
  await producer.start()
  const logger = createLogger('test', 'silent')
  const source = stores.standaloneIncidents.outbox
  const publisher = createOutboxPublisher({ source, producer, encoder: codec, logger })
  await db.collection<{ _id: string; name: string }>('projects').insertOne({ _id: PROJECT, name: 'Webshop' })
  const createdAt = new Date(clock.now() - 14 * DAY)
  const document = connectionOf('con_1', { project_id: PROJECT, name: 'Cards', created_at: createdAt, ...connection })
  await db.collection<ConnectionDocument>('connections').insertOne(document)
  const bursts = db.collection<BurstDocument>('bursts')
  await stores.bursts.ensure('con_1', PROJECT)
  const today = Math.floor(clock.now() / DAY)
  await bursts.updateOne({ _id: 'con_1' }, { $set: { [`days.${today - 1}.waits`]: { all: 500 } } } as object)
  const actions = db.collection<ActionDocument>('actions')
  const incidents = db.collection<IncidentDocument>('incidents')
  const ledger = { hasExecuted: async (ids: readonly string[]) => new Set(hasExecuted ? ids : []) }
  const startProcess = (changed: Partial<typeof stores> = {}) => {
    const watch = createBurstWatch({ stores: { ...stores, ...changed }, ledger, publisher, clock, logger })
    for (const timer of watch.timers) timer.start()
    return { ...watch, kill: () => Promise.all(watch.timers.map(timer => timer.stop())) }
  }
  return {
    clock,
    stores,
    bursts,
    incidents,
    startProcess,
    async see(count: number, changes: Partial<ActionDocument> = {}) {
      const known = await actions.countDocuments({})
      const now = clock.now()
      const made = Array.from({ length: count }, (_, index) => pendingRefund(`act_${known + index}`, now, changes))
      await actions.insertMany(made)
    },
    /** All actions get this verdict. */
    decide: (fields: Partial<ActionDocument>) => actions.updateMany({ verdict: 'pending' }, { $set: fields }),
    alerts: async () =>
      Promise.all(bus.stored('alerts').map(({ value }) => codec.decode('alert', value) as Promise<Alert>)),
  }
}

function pendingRefund(id: string, now: number, changes: Partial<ActionDocument>): ActionDocument {
  const at = new Date(now)
  const second_look_at = new Date(now + MINUTE).toISOString()
  const facts = {
    kind: 'refund',
    subject: `pi_${id}`,
    amount: 2_500,
    currency: 'eur',
    state: 'succeeded',
    mode: 'live',
  }
  return {
    ...facts,
    ...{ _id: id, project_id: PROJECT, connection_id: 'con_1', connection_ids: ['con_1'], provider: 'processor' },
    ...{ verdict: 'pending', first_seen: at, first_seen_at: at.toISOString(), second_look_at, incident_id: null },
    ...changes,
  } as ActionDocument
}

test('ten unexplained refunds open one incident within two seconds, with count, money, rate and reason', async () => {
  const { clock, see, startProcess, alerts, incidents } = await openAccount()
  const process = startProcess()
  await clock.advance(10 * SECOND)
  await see(9)
  await clock.advance(6 * SECOND)
  expect(await alerts()).toEqual([])
  await see(1)
  process.note([{ verdict: 'pending' } as never])
  await clock.advance(2 * SECOND)
  const [alert, ...others] = await alerts()
  expect(others).toEqual([])
  expect(alert).toMatchObject({
    event: 'incident.opened',
    data: {
      action: null,
      names: { project: 'Webshop', connection: 'Cards' },
      incident: {
        code: 'UNEXPLAINED_BURST',
        state: 'open',
        storm_id: expect.stringMatching(/^stm_/),
        burst: {
          count: 10,
          per_minute: 60,
          kinds: [{ kind: 'refund', count: 10 }],
          money: [{ currency: 'eur', amount: 25_000, count: 10, mode: 'live' }],
          common: { amount: { value: 2_500, currency: 'eur', count: 10 }, key_name: null },
          why: { usual_wait_ms: 0, usual_late_per_minute: 0, late: 10, threshold: 10 },
        },
      },
    },
  })
  await see(100)
  await clock.advance(30 * SECOND)
  expect(await incidents.countDocuments({})).toBe(1)
  await process.kill()
})

test('a confirmed burst ends without a message, its day teaches nothing, and the storm that follows opens no other', async () => {
  const { clock, see, decide, startProcess, alerts, incidents, bursts } = await openAccount()
  const process = startProcess()
  await see(50)
  await clock.advance(2 * SECOND)
  await clock.advance(MINUTE)
  await decide({ verdict: 'unexplained', incident_id: 'inc_1', look_done: new Date(clock.now()) })
  await clock.advance(10 * SECOND)
  expect(await incidents.findOne({})).toMatchObject({ state: 'resolved', burst: { outcome: 'confirmed' } })
  expect((await alerts()).map(({ event }) => event)).toEqual(['incident.opened'])
  for (let minute = 0; minute < 15; minute += 1) {
    await see(50)
    await clock.advance(MINUTE)
    await decide({ verdict: 'unexplained', incident_id: 'inc_1', look_done: new Date(clock.now()) })
  }
  expect(await incidents.countDocuments({})).toBe(1)
  const { days, open } = (await bursts.findOne({}))!
  expect(open).toBeNull()
  expect(Object.values(days).every(({ late }) => late === undefined)).toBe(true)
  await process.kill()
})

test('an explained burst is resolved with one message, and teaches what is usual', async () => {
  const { clock, see, decide, startProcess, alerts, bursts } = await openAccount()
  const process = startProcess()
  await see(40)
  await clock.advance(2 * SECOND)
  await decide({ verdict: 'explained', operation_id: 'op_1' })
  await clock.advance(10 * SECOND)
  const [opened, resolved, ...others] = await alerts()
  expect([opened?.event, resolved?.event, others]).toEqual(['incident.opened', 'incident.resolved', []])
  expect(resolved).toMatchObject({ data: { incident: { state: 'resolved', burst: { outcome: 'explained' } } } })
  await clock.advance(2 * MINUTE)
  const learned = Object.values((await bursts.findOne({}))!.days).flatMap(({ late }) =>
    late === undefined ? [] : [late],
  )
  expect(learned).toMatchObject([{ 0: 40 }])
  await process.kill()
})

test('of two processes one opens the incident, and a process that starts later sees what a killed one did not', async () => {
  const { clock, see, startProcess, alerts, incidents } = await openAccount()
  const killed = startProcess()
  await see(12)
  killed.note([{ verdict: 'pending' } as never])
  await killed.kill()
  const both = [startProcess(), startProcess()]
  await clock.advance(2 * SECOND)
  expect(await incidents.countDocuments({})).toBe(1)
  expect((await alerts()).map(({ event }) => event)).toEqual(['incident.opened'])
  await Promise.all(both.map(({ kill }) => kill()))
})

test('the incident is opened although its process was killed right after it reported the burst', async () => {
  const { clock, see, startProcess, stores, alerts, incidents, bursts } = await openAccount()
  const open = async () => {
    throw new AppError('unavailable', 'killed')
  }
  const killed = startProcess({ standaloneIncidents: { ...stores.standaloneIncidents, open } })
  await see(12)
  await clock.advance(2 * SECOND)
  expect((await bursts.findOne({}))?.open).not.toBeNull()
  expect(await incidents.countDocuments({})).toBe(0)
  await killed.kill()
  const next = startProcess()
  await clock.advance(11 * SECOND)
  expect((await alerts()).map(({ event }) => event)).toEqual(['incident.opened'])
  await next.kill()
})

test('a person may resolve the incident, and it ends at the latest five minutes after the last look', async () => {
  const { clock, see, startProcess, alerts, incidents, bursts } = await openAccount()
  const process = startProcess()
  await see(12)
  await clock.advance(2 * SECOND)
  await clock.advance(5 * MINUTE)
  expect(await incidents.findOne({})).toMatchObject({ state: 'open' })
  await clock.advance(2 * MINUTE)
  expect(await incidents.findOne({})).toMatchObject({ state: 'resolved', summary: expect.stringContaining('are late') })
  expect((await alerts()).map(({ event }) => event)).toEqual(['incident.opened', 'incident.resolved'])
  expect((await bursts.findOne({}))?.open).toBeNull()
  await process.kill()
})

test('the actions of connected accounts that are set to ignore count for no burst', async () => {
  const accounts = [{ account: 'acct_1', out_of_band: 'ignore' as const }]
  const { clock, see, startProcess, alerts } = await openAccount({ accounts })
  const process = startProcess()
  await see(40, { account: 'acct_1' })
  await see(9, { account: 'acct_2' })
  await clock.advance(20 * SECOND)
  expect(await alerts()).toEqual([])
  await see(1, { account: 'acct_2' })
  await clock.advance(10 * SECOND)
  expect(await alerts()).toMatchObject([
    { event: 'incident.opened', data: { incident: { burst: { count: 10, account: 'acct_2' } } } },
  ])
  await process.kill()
})

test('an account that is set to alert has the alarm, although its connection ignores', async () => {
  const accounts = [{ account: 'acct_1', out_of_band: 'alert' as const }]
  const { clock, see, startProcess, alerts } = await openAccount({ out_of_band: 'ignore', accounts })
  const process = startProcess()
  await see(40, { account: 'acct_2' })
  await clock.advance(10 * SECOND)
  expect(await alerts()).toEqual([])
  await see(10, { account: 'acct_1' })
  await clock.advance(10 * SECOND)
  expect(await alerts()).toMatchObject([{ data: { incident: { burst: { count: 10, account: 'acct_1' } } } }])
  await process.kill()
})

test('incidents of another code, such as those of a canary, do not confirm a burst', async () => {
  const { clock, see, startProcess, decide, incidents } = await openAccount()
  const process = startProcess()
  await see(12, { incident_id: 'inc_canary' })
  await clock.advance(20 * SECOND)
  expect(await incidents.findOne({})).toMatchObject({ state: 'open' })
  await decide({ verdict: 'explained' })
  await clock.advance(10 * SECOND)
  expect(await incidents.findOne({})).toMatchObject({ state: 'resolved', burst: { outcome: 'explained' } })
  await process.kill()
})

test('explained actions are stored within a quarter of an hour, so that a connection does not stay new', async () => {
  const { clock, startProcess, bursts } = await openAccount()
  const process = startProcess()
  const explained = { verdict: 'explained', operation_id: 'op_1', connection_id: 'con_1', project_id: PROJECT }
  const first_seen_at = new Date(clock.now()).toISOString()
  process.note(Array.from({ length: 7 }, () => ({ ...explained, first_seen_at, second_look_at: null }) as never))
  const isStored = async () => Object.values((await bursts.findOne({}))!.days).some(({ waits }) => waits?.all === 7)
  for (let minute = 0; minute < 17 && !(await isStored()); minute += 1) await clock.advance(MINUTE)
  expect(await isStored()).toBe(true)
  await process.kill()
})

test.each([
  { name: 'switched off', connection: { burst_alarm: false } },
  { name: 'that ignores', connection: { out_of_band: 'ignore' } as const },
  { name: 'on auto before its first operation', connection: { out_of_band: 'auto' } as const, hasExecuted: false },
  { name: 'that was deleted', connection: { status: 'deleted' } as const },
])('nothing is opened for a connection $name', async ({ connection, hasExecuted }) => {
  const { clock, see, startProcess, incidents } = await openAccount(connection, hasExecuted)
  const process = startProcess()
  await see(100)
  await clock.advance(MINUTE)
  expect(await incidents.countDocuments({})).toBe(0)
  await process.kill()
})
