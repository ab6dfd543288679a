/** Sweeps of many connections on virtual time: providers that do not answer do not delay the others. */
import type { ConnectionDocument } from '@backstop/contracts'
import { createLogger } from '@backstop/kit/logger'
import { createOutboxPublisher } from '@backstop/kit/outbox'
import { createFixedCodec, createManualClock, createMemoryBus } from '@backstop/kit/test'
import type { SweepPage } from '@backstop/providers'
import { MINUTE, PROJECT, SECOND } from '@backstop/verdict/test'
import { afterEach, describe, expect, test } from 'vitest'
import { createConnectionIncidents } from '../src/incidents/connection-incidents.ts'
import type { OpenedReader } from '../src/reading/connection-readers.ts'
import { createHeldHints } from '../src/reading/held-hints.ts'
import { createSweeper } from '../src/sweep/sweeper.ts'
import { createMemoryStores } from './memory-stores/memory-store.ts'

const EVERY_MS = 5 * MINUTE
/** How often the sweeper checks for due sweeps. */
const LOOK_MS = 5 * SECOND

const codec = createFixedCodec()
const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

const PAGE: SweepPage = { kind: 'page', objects: [], events: [], cursor: { after: 'end' }, done: true }
const failed = (retryAfterMs: number | null = null): SweepPage => ({
  kind: 'failed',
  failure: 'provider_unavailable',
  text: 'Away',
  retryAfterMs,
})

/** How the provider of a connection answers. */
type ProviderBehaviour = (clock: { schedule(ms: number, callback: () => void): () => void }) => Promise<SweepPage>
const answersAtOnce: ProviderBehaviour = async () => PAGE
/** Never ends, even if it is aborted. */
const neverEnds: ProviderBehaviour = () => new Promise(() => {})
/** Fails after five seconds, like the reader of a provider that does not answer. */
const failsSlowly: ProviderBehaviour = clock =>
  new Promise(resolve => clock.schedule(5 * SECOND, () => resolve(failed())))

async function harness(providers: Record<string, ProviderBehaviour>) {
  const clock = createManualClock()
  const bus = createMemoryBus({ clock, partitions: 1 })
  const producer = bus.producer({ sendTimeoutMs: 1_000 })
  await producer.start()
  const stores = createMemoryStores()
  const madeAt = new Date(clock.now() - 3 * 60 * MINUTE)
  const asked: { id: string; at: number }[] = []
  const from = clock.now()
  const add = (id: string) => {
    const common = { _id: id, project_id: PROJECT, kind: 'processor', name: id, status: 'active' }
    stores.contents.connections.set(id, { ...common, read_key: {}, created_at: madeAt } as ConnectionDocument)
  }
  for (const id of Object.keys(providers)) add(id)
  const readerOf = (id: string) => {
    const read = () => {
      asked.push({ id, at: clock.now() - from })
      return (providers[id] ?? answersAtOnce)(clock)
    }
    return { schedules: read, changes: read }
  }
  const logger = createLogger('test', 'silent')
  const { standaloneIncidents: incidents, inbox, sweeps, sweepDays } = stores
  const publisher = createOutboxPublisher({ source: incidents.outbox, producer, encoder: codec, logger })
  const start = (holder: string) => {
    const sweeper = createSweeper({
      sweeps,
      sweepDays,
      connections: stores.connections,
      inbox,
      readers: {
        readerFor: async id => {
          const connection = stores.contents.connections.get(id)
          if (connection === undefined) return { kind: 'none', isDeleted: true, text: 'The connection was deleted' }
          return { kind: 'reader', reader: readerOf(id), connection } as unknown as OpenedReader
        },
      },
      heldHints: createHeldHints({ inbox, producer, codec, clock }),
      incidents: createConnectionIncidents({ incidents, publisher, clock }),
      producer,
      codec,
      clock,
      logger,
      holder,
      everyMs: EVERY_MS,
      random: () => 1,
    })
    sweeper.start()
    stops.push(() => sweeper.stop())
    return sweeper
  }
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= SECOND) await clock.advance(Math.min(SECOND, left))
  }
  return { clock, stores, providers, add, asked, start, pass, of: (id: string) => stores.contents.sweeps.get(id) }
}

const manyProviders = (name: string, count: number, answer: ProviderBehaviour) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${name}${index}`, answer]))

/** The times between the sweeps of one connection. */
function waitsOf(asked: readonly { id: string; at: number }[], wanted: string): number[] {
  const times = asked.filter(({ id }) => id === wanted).map(({ at }) => at)
  return times.map((at, index) => at - (times[index - 1] ?? 0)).slice(1)
}

describe('connections whose providers do not answer', () => {
  test('do not change the interval of the others, from the first sweep on', async () => {
    const { asked, pass, start } = await harness({
      ...manyProviders('dead', 200, failsSlowly),
      ...manyProviders('alive', 5, answersAtOnce),
    })
    start('p1')
    await pass(30 * MINUTE)
    for (const id of Object.keys(manyProviders('alive', 5, answersAtOnce))) {
      const first = asked.find(one => one.id === id)?.at ?? Number.POSITIVE_INFINITY
      expect(first).toBeLessThan(MINUTE)
      // The first two pages belong to one run: the baseline, and the changes.
      const waits = waitsOf(asked, id).slice(1)
      expect(waits.length).toBeGreaterThanOrEqual(5)
      expect(Math.max(...waits)).toBeLessThanOrEqual(EVERY_MS + LOOK_MS)
    }
  })

  test('that answered until now delay the others for seconds only, even if all of them hang at once', async () => {
    const { asked, pass, start, providers } = await harness({
      ...manyProviders('dead', 60, answersAtOnce),
      ...manyProviders('alive', 5, answersAtOnce),
    })
    start('p1')
    await pass(MINUTE)
    for (const id of Object.keys(manyProviders('dead', 60, neverEnds))) providers[id] = neverEnds
    await pass(20 * MINUTE)
    for (const id of Object.keys(manyProviders('alive', 5, answersAtOnce))) {
      const waits = waitsOf(asked, id).slice(1)
      expect(waits.length).toBeGreaterThanOrEqual(3)
      expect(Math.max(...waits)).toBeLessThanOrEqual(EVERY_MS + LOOK_MS + 30 * SECOND)
    }
  })

  test('that never end release their places after two minutes', async () => {
    const { asked, pass, start, of } = await harness(manyProviders('dead', 200, neverEnds))
    start('p1')
    await pass(4 * MINUTE)
    expect(new Set(asked.map(({ id }) => id)).size).toBe(200)
    expect(of('dead0')).toMatchObject({ last_error: 'The sweep did not end in time' })
  })

  test('do not delay the first sweep of a new connection: it starts within ten seconds', async () => {
    const dead = manyProviders('dead', 200, neverEnds)
    const { asked, pass, start, add, clock } = await harness(dead)
    start('p1')
    start('p2')
    for (const minutes of [0.5, 2, 3]) {
      await pass(minutes * MINUTE)
      const addedAt = clock.now()
      const id = `new${minutes}`
      add(id)
      await pass(10 * SECOND)
      expect(
        asked.some(one => one.id === id),
        `asked by ${clock.now() - addedAt} ms`,
      ).toBe(true)
    }
  })

  test('of deleted connections are not swept again, and do not delay the first sweep of a new one', async () => {
    const { asked, pass, start, add, of, stores, clock } = await harness({})
    const deleted = Array.from({ length: 50 }, (_, index) => `deleted${index}`)
    await stores.sweeps.ensure(
      deleted.map(id => ({ id, projectId: PROJECT })),
      clock.now(),
    )
    add('new')
    start('p1')
    await pass(10 * SECOND)
    expect(asked.some(({ id }) => id === 'new')).toBe(true)
    expect(deleted.filter(id => of(id) !== undefined)).toEqual([])
  })

  test('are retried after growing pauses, up to five minutes, until they answer', async () => {
    const { asked, pass, start, of, providers } = await harness({ dead: async () => failed() })
    start('p1')
    await pass(40 * MINUTE)
    const waits = waitsOf(asked, 'dead')
    const pauses = [10, 20, 40, 80, 160, 300, 300].map(seconds => seconds * SECOND)
    for (const [index, pause] of pauses.entries()) {
      expect(waits[index]).toBeGreaterThanOrEqual(pause)
      expect(waits[index]).toBeLessThanOrEqual(pause + LOOK_MS)
    }
    expect(of('dead')?.failures).toBeGreaterThan(7)
    providers.dead = answersAtOnce
    await pass(6 * MINUTE)
    expect(of('dead')).toMatchObject({ failures: 0, last_error: null, failing_since: null })
  })

  test('that send Retry-After are not asked before that time', async () => {
    const { asked, pass, start } = await harness({ dead: async () => failed(20 * MINUTE) })
    start('p1')
    await pass(19 * MINUTE)
    expect(asked).toHaveLength(1)
    await pass(2 * MINUTE)
    expect(asked).toHaveLength(2)
  })

  test('are not asked earlier after a restart', async () => {
    const { asked, pass, start } = await harness({ dead: async () => failed() })
    const first = start('p1')
    await pass(6 * MINUTE)
    await first.stop()
    const before = asked.length
    start('p2')
    await pass(4 * MINUTE)
    expect(asked.length).toBeLessThanOrEqual(before + 1)
  })
})

describe('a process that stops', () => {
  test('does not wait for providers, and another process continues its sweeps at once', async () => {
    const { asked, pass, start, of } = await harness({ dead: neverEnds })
    const first = start('p1')
    await pass(6 * SECOND)
    expect(asked).toHaveLength(1)
    await first.stop()
    expect(of('dead')).toMatchObject({ lease_holder: null, last_error: null, last_run_at: null })
    start('p2')
    await pass(6 * SECOND)
    expect(asked).toHaveLength(2)
  })

  test('and is killed leaves its lease until it expires', async () => {
    const { clock, asked, pass, start, stores } = await harness({ alive: answersAtOnce })
    await stores.sweeps.ensure([{ id: 'alive', projectId: PROJECT }], clock.now())
    await stores.sweeps.claim('gone', clock.now(), 2 * MINUTE)
    start('p2')
    await pass(110 * SECOND)
    expect(asked).toEqual([])
    await pass(20 * SECOND)
    expect(asked.length).toBeGreaterThan(0)
  })
})
