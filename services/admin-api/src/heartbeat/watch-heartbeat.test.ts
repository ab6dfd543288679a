import { type DeliveryDocument, HEARTBEAT } from '@backstop/contracts'
import { unavailable } from '@backstop/kit/errors'
import type { OperatorClient, OperatorRequest } from '@backstop/kit/http'
import { createLogger } from '@backstop/kit/logger'
import { createManualClock } from '@backstop/kit/test'
import { expect, test } from 'vitest'
import { createMemoryStores, type TestStores } from '../../test/memory-stores.ts'
import type { HeartbeatReport } from './rules/heartbeat-report.ts'
import { createHeartbeatWatch } from './watch-heartbeat.ts'

const START = Date.parse('2026-11-21T10:00:00.000Z')
const ALARM_AFTER_MS = 300_000
const TICK_MS = 5_000

function openWatchers(count: number, stores: TestStores = createMemoryStores()) {
  const clock = createManualClock(START)
  const sent: OperatorRequest[] = []
  const state = { isMongoDown: false, status: 200 }
  const client: OperatorClient = {
    async send(request) {
      sent.push(request)
      return { status: state.status, text: '' }
    },
    stop: async () => {},
  }
  const failing = <T extends object>(store: T): T =>
    new Proxy(store, {
      get: (target, name) =>
        state.isMongoDown
          ? async () => {
              throw unavailable('MongoDB', new Error('down'))
            }
          : Reflect.get(target, name),
    })
  const open = () =>
    createHeartbeatWatch({
      stores: {
        deliveries: failing(stores.deliveries),
        heartbeat: failing(stores.heartbeat),
        uptimes: failing(stores.uptimes),
      },
      client,
      installation: 'Backstop',
      alarmAfterMs: ALARM_AFTER_MS,
      alarmUrl: () => 'https://alarm.example/',
      pingUrl: () => 'https://ping.example/',
      tickMs: TICK_MS,
      clock,
      logger: createLogger('test', 'silent'),
      lastSend: () => ({ kind: 'accepted' }),
      onReturned: () => {},
      onReported: () => {},
      onPinged: () => {},
    })
  for (let at = 0; at < count; at++) open().start()
  return {
    clock,
    state,
    stores,
    open,
    reports: () => sent.flatMap(({ body }) => (body === undefined ? [] : [JSON.parse(body) as HeartbeatReport])),
    pings: () => sent.filter(({ method }) => method === 'GET').length,
    comesBack: (dueMs = clock.now()) => stores.deliveries.put(delivered(clock.now(), dueMs)),
  }
}

const delivered = (atMs: number, dueMs = atMs) =>
  ({
    _id: `dlv_${atMs}`,
    project_id: HEARTBEAT.projectId,
    channel_id: HEARTBEAT.channelId,
    state: 'delivered',
    alert: { data: { action: { provider_ref: `re_heartbeat_${dueMs}` } } },
    created_at: new Date(atMs),
    updated_at: new Date(atMs),
  }) as unknown as DeliveryDocument

test('pings once for each heartbeat that came back', async () => {
  const { clock, comesBack, pings, reports } = openWatchers(1)
  await clock.advance(TICK_MS)
  await comesBack()
  await clock.advance(3 * TICK_MS)
  expect(pings()).toBe(1)
  await comesBack()
  await clock.advance(TICK_MS)
  expect(pings()).toBe(2)
  expect(reports()).toEqual([])
})

test('reports an absence and its end once, also if two processes watch', async () => {
  const { clock, comesBack, reports } = openWatchers(2)
  await clock.advance(ALARM_AFTER_MS * 3)
  expect(reports().map(({ event }) => event)).toEqual(['heartbeat.missing'])
  await comesBack()
  await clock.advance(TICK_MS * 3)
  expect(reports().map(({ event }) => event)).toEqual(['heartbeat.missing', 'heartbeat.returned'])
  expect(reports()[1]?.silent_seconds).toBeGreaterThan(ALARM_AFTER_MS / 1000)
})

test('reports without MongoDB, with the cause, and the end when MongoDB is back', async () => {
  const { clock, state, comesBack, reports } = openWatchers(1)
  await comesBack()
  await clock.advance(TICK_MS)
  state.isMongoDown = true
  await clock.advance(ALARM_AFTER_MS + TICK_MS)
  expect(reports()).toMatchObject([{ event: 'heartbeat.missing', cause: expect.stringContaining('MongoDB') }])
  state.isMongoDown = false
  await clock.advance(TICK_MS * 2)
  expect(reports()).toHaveLength(1)
  await comesBack()
  await clock.advance(TICK_MS)
  expect(reports().map(({ event }) => event)).toEqual(['heartbeat.missing', 'heartbeat.returned'])
})

test('repeats a report that the receiver refuses until it accepts it', async () => {
  const { clock, state, reports } = openWatchers(1)
  state.status = 500
  await clock.advance(ALARM_AFTER_MS + TICK_MS * 2)
  const refused = reports().length
  expect(refused).toBeGreaterThan(1)
  state.status = 200
  await clock.advance(TICK_MS * 4)
  expect(reports()).toHaveLength(refused + 1)
  expect(new Set(reports().map(({ id }) => id)).size).toBe(1)
})

test('reports the end of an absence that was reported before a restart', async () => {
  const before = openWatchers(1)
  await before.clock.advance(ALARM_AFTER_MS + TICK_MS)
  expect(before.reports()).toHaveLength(1)
  const { clock, reports, stores } = openWatchers(1, before.stores)
  await clock.advance(ALARM_AFTER_MS + 2 * TICK_MS)
  expect(reports()).toEqual([])
  await stores.deliveries.put(delivered(clock.now()))
  await clock.advance(TICK_MS)
  expect(reports().map(({ event }) => event)).toEqual(['heartbeat.returned'])
})

test('takes a heartbeat that waited longer than the alarm for missing', async () => {
  const { clock, comesBack, pings, reports } = openWatchers(1)
  for (let waited = 0; waited <= ALARM_AFTER_MS; waited += TICK_MS) {
    await clock.advance(TICK_MS)
    await comesBack(clock.now() - ALARM_AFTER_MS - 1)
  }
  await clock.advance(TICK_MS)
  expect(reports().map(({ event }) => event)).toEqual(['heartbeat.missing'])
  expect(pings()).toBe(0)
  await comesBack()
  await clock.advance(TICK_MS)
  expect(reports().map(({ event }) => event)).toEqual(['heartbeat.missing', 'heartbeat.returned'])
})

test('a test of the channel is no heartbeat', async () => {
  const { clock, pings, stores } = openWatchers(1)
  await stores.deliveries.put({ ...delivered(clock.now()), alert: { data: {} } } as unknown as DeliveryDocument)
  await clock.advance(2 * TICK_MS)
  expect(pings()).toBe(0)
})

test('records from when to when heartbeats came back, once for all processes, also before and after a restart', async () => {
  const before = openWatchers(2)
  await before.comesBack()
  await before.clock.advance(TICK_MS)
  const firstAt = before.clock.now() - TICK_MS
  await before.clock.advance(ALARM_AFTER_MS - TICK_MS)
  await before.comesBack()
  await before.clock.advance(TICK_MS)
  const lastAt = before.clock.now() - TICK_MS
  // Everything is down for an hour.
  const { clock, comesBack, stores } = openWatchers(2, before.stores)
  await clock.advance(60 * 60_000)
  await comesBack()
  await clock.advance(TICK_MS)
  const backAt = clock.now() - TICK_MS
  const uptimes = await stores.uptimes.page({ where: {}, by: 'to', limit: 10 })
  expect(uptimes.map(({ from, to }) => [from.getTime(), to.getTime()])).toEqual([
    [backAt, backAt],
    [firstAt, lastAt],
  ])
})
