/** The sweep on virtual time: the changes that it finds, where it continues, and the incidents of its connection. */
import type { ConnectionDocument, SweepDayDocument } from '@backstop/contracts'
import { createLogger } from '@backstop/kit/logger'
import { createOutboxPublisher } from '@backstop/kit/outbox'
import { createFixedCodec, createManualClock, createMemoryBus } from '@backstop/kit/test'
import type { ListedEvent, SweepCursor, SweepPage } from '@backstop/providers'
import { MINUTE, PROJECT } from '@backstop/verdict/test'
import { afterEach, describe, expect, test } from 'vitest'
import { createConnectionIncidents } from '../src/incidents/connection-incidents.ts'
import type { OpenedReader } from '../src/reading/connection-readers.ts'
import { createHeldHints } from '../src/reading/held-hints.ts'
import { LATE_AFTER_MS } from '../src/sweep/rules/silent-feed.ts'
import { createSweeper } from '../src/sweep/sweeper.ts'
import { inboxEntry } from './inbox-entries.ts'
import { createMemoryStores } from './memory-stores/memory-store.ts'

const CONNECTION = { id: 'con_1', projectId: PROJECT }
const codec = createFixedCodec()
const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

type Pages = (kind: 'schedules' | 'changes', cursor: SweepCursor | null) => SweepPage | Promise<SweepPage>

const page = (changes: Partial<Extract<SweepPage, { kind: 'page' }>> = {}): SweepPage => ({
  kind: 'page',
  objects: [],
  events: [],
  cursor: { after: 'end' },
  done: true,
  ...changes,
})
const refund = (id: string) => ({ type: 'refund', body: { id } })
const AWAY: SweepPage = {
  kind: 'failed',
  failure: 'key_refused',
  text: 'The provider refused the key',
  retryAfterMs: null,
}

async function harness(pages: Pages, kind: ConnectionDocument['kind'] = 'processor') {
  const clock = createManualClock()
  const bus = createMemoryBus({ clock, partitions: 1 })
  const producer = bus.producer({ sendTimeoutMs: 1_000 })
  await producer.start()
  const stores = createMemoryStores()
  const connection = {
    _id: 'con_1',
    project_id: PROJECT,
    kind,
    name: 'Cards',
    status: 'active',
    read_key: {},
    created_at: new Date(clock.now() - 3 * 60 * MINUTE),
  } as unknown as ConnectionDocument
  stores.contents.connections.set('con_1', connection)
  const logger = createLogger('test', 'fatal')
  const asked: string[] = []
  const reader = {
    schedules: async (cursor: SweepCursor | null) => {
      asked.push(`schedules ${cursor?.after ?? 'start'}`)
      return pages('schedules', cursor)
    },
    changes: async (cursor: SweepCursor | null) => {
      asked.push(`changes ${cursor?.after ?? 'start'}`)
      return pages('changes', cursor)
    },
  }
  const { standaloneIncidents: incidents, inbox, sweeps, sweepDays } = stores
  const publisher = createOutboxPublisher({ source: incidents.outbox, producer, encoder: codec, logger })
  const start = (holder: string) => {
    const sweeper = createSweeper({
      sweeps,
      sweepDays,
      connections: stores.connections,
      inbox,
      readers: { readerFor: async () => ({ kind: 'reader', reader, connection }) as unknown as OpenedReader },
      heldHints: createHeldHints({ inbox, producer, codec, clock }),
      incidents: createConnectionIncidents({ incidents, publisher, clock }),
      producer,
      codec,
      clock,
      logger,
      holder,
      everyMs: 5 * MINUTE,
      random: () => 1,
    })
    sweeper.start()
    stops.push(() => sweeper.stop())
  }
  start('p1')
  const found = async () =>
    Promise.all(bus.stored('readbacks').map(({ value }) => codec.decode('readback', value))).then(list =>
      list.map(({ reason, objects }) => `${reason} ${objects.map(({ body }) => body.id).join()}`),
    )
  const alerted = async () =>
    (await Promise.all(bus.stored('alerts').map(({ value }) => codec.decode('alert', value)))).map(alert =>
      'incident' in alert.data ? `${alert.event} ${alert.data.incident.code}` : alert.event,
    )
  return { clock, bus, stores, start, asked, found, alerted }
}

describe('the sweep of a connection', () => {
  test('reads the baseline once, then the changes, page by page', async () => {
    const { clock, asked, found } = await harness((kind, cursor) => {
      if (kind === 'schedules') return page({ objects: [refund('set_before')] })
      return cursor === null
        ? page({ objects: [refund('a')], cursor: { after: 'a' }, done: false })
        : page({ objects: [refund('b')], cursor: { after: 'b' } })
    })
    await clock.advance(6_000)
    expect(asked).toEqual(['schedules start', 'changes start', 'changes a'])
    expect(await found()).toEqual(['baseline set_before', 'sweep a', 'sweep b'])
    await clock.advance(5 * MINUTE + 6_000)
    expect(asked.slice(3)).toEqual(['changes b'])
  })

  test('is run by one process at a time', async () => {
    const { clock, asked, start } = await harness(() => page())
    start('p2')
    await clock.advance(6_000)
    expect(asked).toEqual(['schedules start', 'changes start'])
  })

  test('is recorded with the objects that it lists, and with the time in which the provider could not be read', async () => {
    let works = true
    const { clock, stores } = await harness(kind => {
      if (!works) return AWAY
      return kind === 'changes' ? page({ objects: [refund('a'), refund('b')], readUntil: clock.now() }) : page()
    })
    await clock.advance(6_000)
    const firstAt = stores.contents.sweeps.get('con_1')?.completed_at
    works = false
    await clock.advance(60 * MINUTE)
    works = true
    await clock.advance(6 * MINUTE)
    const { completed_at: lastAt, read_until } = stores.contents.sweeps.get('con_1') ?? {}
    const cause = 'The provider refused the key'
    const [day] = await stores.mongo.db.collection<SweepDayDocument>('sweep_days').find().toArray()
    // The first sweep reads the changes since the connection was created, three hours before.
    const created = stores.contents.connections.get('con_1')?.created_at
    expect(day).toMatchObject({ recorded_from: created, read_until, connection_id: 'con_1', project_id: PROJECT })
    expect(day?.objects).toBe(2 * (day?.completed ?? 0))
    expect(day?.interruptions).toEqual([
      { from: created, to: firstAt, cause: null },
      { from: expect.any(Date), to: expect.any(Date), cause },
    ])
    expect(day?.interruptions[1]?.to.getTime()).toBeLessThanOrEqual(lastAt?.getTime() ?? 0)
  })

  test('that did not end in time is started again, and a late page changes nothing', async () => {
    const stuck = Promise.withResolvers<SweepPage>()
    let isFirst = true
    const { clock, asked, stores } = await harness(kind => {
      if (kind === 'schedules' || !isFirst) return page()
      isFirst = false
      return stuck.promise
    })
    await clock.advance(MINUTE)
    expect(asked).toEqual(['schedules start', 'changes start'])
    await clock.advance(MINUTE)
    await clock.advance(10_000)
    expect(asked).toEqual(['schedules start', 'changes start', 'changes start'])
    const swept = stores.contents.sweeps.get('con_1')
    stuck.resolve(page({ cursor: { after: 'late' } }))
    await clock.advance(6_000)
    expect(stores.contents.sweeps.get('con_1')).toEqual(swept)
  })

  test('continues from its cursor when a page fails', async () => {
    let fails = true
    const { clock, asked } = await harness((kind, cursor) => {
      if (kind === 'schedules') return page()
      if (cursor === null) return page({ cursor: { after: 'a' }, done: false })
      return fails ? AWAY : page()
    })
    await clock.advance(6_000)
    fails = false
    await clock.advance(5 * MINUTE + 6_000)
    expect(asked).toEqual(['schedules start', 'changes start', 'changes a', 'changes a'])
  })
})

describe('a connection that cannot be read', () => {
  test('stores the error and its first time until it can be read again', async () => {
    let works = false
    const { clock, stores } = await harness(() => (works ? page() : AWAY))
    const known = () => stores.contents.sweeps.get('con_1')
    await clock.advance(6_000)
    const since = known()?.failing_since
    expect(since).toBeInstanceOf(Date)
    await clock.advance(6 * MINUTE)
    expect(known()).toMatchObject({ last_error: 'The provider refused the key', failing_since: since })
    expect(known()?.last_run_at?.getTime()).toBeGreaterThan(since?.getTime() ?? Number.POSITIVE_INFINITY)
    works = true
    await clock.advance(6 * MINUTE)
    expect(known()).toMatchObject({ last_error: null, failing_since: null })
  })
})

describe('a feed that is silent', () => {
  const listed = (clock: { now(): number }): ListedEvent => ({
    eventId: 'evt_1',
    eventType: 'refund.created',
    createdAt: clock.now() - 1_000,
  })

  test('opens one incident after the events had time to arrive, and resolves it when events arrive again', async () => {
    let events: ListedEvent[] = []
    const { clock, alerted, stores } = await harness(kind =>
      page(kind === 'changes' ? { events: events.splice(0) } : {}),
    )
    events = [listed(clock)]
    await clock.advance(6_000)
    expect(await alerted()).toEqual([])
    await clock.advance(LATE_AFTER_MS + 6 * MINUTE)
    expect(await alerted()).toEqual(['incident.opened FEED_SILENT'])
    const next = { ...listed(clock), eventId: 'evt_2' }
    events = [next]
    await stores.inbox.insert([inboxEntry('evt_2', { connection_id: 'con_1' })])
    await clock.advance(6 * MINUTE)
    expect(await alerted()).toEqual(['incident.opened FEED_SILENT', 'incident.resolved FEED_SILENT'])
  })

  test('opens no incident for an event that arrived and was dead-lettered', async () => {
    let events: ListedEvent[] = []
    const { clock, alerted, stores } = await harness(kind =>
      page(kind === 'changes' ? { events: events.splice(0) } : {}),
    )
    events = [listed(clock)]
    await stores.inbox.insert([inboxEntry('evt_1', { connection_id: 'con_1', outcome: 'parked' })])
    await clock.advance(LATE_AFTER_MS + 12 * MINUTE)
    expect(await alerted()).toEqual([])
  })

  test('opens no incident for events before a thin event that arrived, and one for an event after it', async () => {
    let events: ListedEvent[] = []
    const { clock, alerted, stores } = await harness(kind =>
      page(kind === 'changes' ? { events: events.splice(0) } : {}),
    )
    events = [listed(clock)]
    const thin = { connection_id: 'con_1', event_type: 'v1.refund.created', received_at: new Date(clock.now() - 3_000) }
    await stores.inbox.insert([inboxEntry('evt_65', thin)])
    await clock.advance(LATE_AFTER_MS + 12 * MINUTE)
    expect(await alerted()).toEqual([])
    events = [{ ...listed(clock), eventId: 'evt_2' }]
    await clock.advance(LATE_AFTER_MS + 12 * MINUTE)
    expect(await alerted()).toEqual(['incident.opened FEED_SILENT'])
  })

  test('opens no incident for event types that the connection does not subscribe to', async () => {
    const { clock, alerted } = await harness(kind =>
      page(kind === 'changes' ? { events: [{ eventId: 'evt_1', eventType: 'invoice.paid', createdAt: 0 }] } : {}),
    )
    await clock.advance(20 * MINUTE)
    expect(await alerted()).toEqual([])
  })
})

describe('a connection whose hints cannot be verified', () => {
  test('opens one incident; when it can be read again, the hints are requested and the incident is resolved', async () => {
    let works = false
    const { clock, alerted, stores, bus } = await harness(() => (works ? page() : AWAY), 'subscription')
    await clock.advance(6_000)
    expect(await alerted()).toEqual([])
    const event = { connection_id: 'con_1', provider: 'subscription', event_type: 'payment_refunded' } as const
    const body = {
      id: 'ev_1',
      event_type: 'payment_refunded',
      occurred_at: 1,
      content: { transaction: { id: 'txn_1' } },
    }
    await stores.inbox.insert([inboxEntry('ev_1', { ...event, outcome: 'held' }, JSON.stringify(body))])
    await stores.sweeps.wake(CONNECTION, clock.now(), clock.now() - 15 * MINUTE)
    await clock.advance(6_000)
    await clock.advance(6 * MINUTE)
    expect(await alerted()).toEqual(['incident.opened VERIFICATION_UNAVAILABLE'])
    expect(bus.stored('rereads')).toEqual([])
    works = true
    await clock.advance(6 * MINUTE)
    expect(await alerted()).toEqual([
      'incident.opened VERIFICATION_UNAVAILABLE',
      'incident.resolved VERIFICATION_UNAVAILABLE',
    ])
    expect(bus.stored('rereads')).toHaveLength(1)
    expect(await stores.inbox.held('con_1', 10)).toEqual([])
  })

  test('is swept again at once, and opens an incident, if the re-read of a hint ended without an answer during the run', async () => {
    let runs = 0
    const { clock, alerted, stores } = await harness(kind => {
      if (kind === 'schedules') return page()
      runs++
      if (runs > 1) return AWAY
      void stores.sweeps.wake(CONNECTION, clock.now(), clock.now() - 15 * MINUTE)
      return page()
    }, 'subscription')
    await clock.advance(8_000)
    expect(runs).toBe(2)
    expect(await alerted()).toEqual(['incident.opened VERIFICATION_UNAVAILABLE'])
  })
})
