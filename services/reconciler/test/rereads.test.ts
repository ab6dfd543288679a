/** Re-reads on virtual time: questions are answered or asked again, and do not delay other connections. */
import type { ConnectionDocument, Readback, Reread } from '@backstop/contracts'
import type { IncomingMessage } from '@backstop/kit/bus'
import { createConsumerMetrics } from '@backstop/kit/consume'
import { createLogger } from '@backstop/kit/logger'
import { createMetrics } from '@backstop/kit/ops'
import { createFixedCodec, createManualClock, createMemoryBus } from '@backstop/kit/test'
import type { ReadResult } from '@backstop/providers'
import { afterEach, describe, expect, test } from 'vitest'
import type { OpenedReader } from '../src/reading/connection-readers.ts'
import { RereadConsumer } from '../src/reading/reread-consumer.ts'
import { RETRY_DELAY_MS } from '../src/reading/rules/reread-answer.ts'

const codec = createFixedCodec()
const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

type Script = (target: string) => ReadResult | Promise<ReadResult>

async function harness(script: Script, none: string[] = []) {
  const clock = createManualClock()
  const checkedSoon: string[] = []
  const bus = createMemoryBus({ clock, partitions: 1 })
  const producer = bus.producer({ sendTimeoutMs: 1_000 })
  await producer.start()
  const readerFor = async (id: string): Promise<OpenedReader> => {
    if (none.includes(id)) return { kind: 'none', isDeleted: true, text: 'The connection was deleted' }
    const reader = { read: async (targets: readonly { id: string }[]) => script(targets[0]?.id ?? '') }
    return { kind: 'reader', reader: reader as never, connection: {} as ConnectionDocument }
  }
  const consumer = new RereadConsumer({
    bus,
    producer,
    codec,
    clock,
    logger: createLogger('test', 'fatal'),
    metrics: createConsumerMetrics(createMetrics('test')),
    readers: { readerFor, healthOf: () => 'answering' },
    sweeps: { checkSoon: async connectionId => void checkedSoon.push(connectionId) },
    onFatal: error => {
      throw error
    },
  })
  await consumer.start()
  stops.push(() => consumer.stop())
  const ask = (reread: Partial<Reread>) =>
    producer.send([
      { topic: 'rereads', key: 'con_1', value: codec.encode('reread', rereadOf(reread, clock.now())), headers: {} },
    ])
  const decodeAll = <N extends 'readback' | 'reread'>(name: N, messages: readonly IncomingMessage[]) =>
    Promise.all(messages.map(message => codec.decode(name, message.value)))
  return {
    clock,
    bus,
    producer,
    checkedSoon,
    ask,
    answers: (): Promise<Readback[]> => decodeAll('readback', bus.stored('readbacks')),
    retries: (): Promise<Reread[]> => decodeAll('reread', bus.stored('rereads.retry')),
    done: () => bus.committed('reconciler.rereads', 'rereads').get(0),
  }
}

function rereadOf(changes: Partial<Reread>, now: number): Reread {
  const target = changes.reread_id ?? 'rrd_1'
  return {
    reread_id: target,
    project_id: 'prj_1',
    connection_id: 'con_1',
    provider: 'processor',
    reason: 'second_look',
    event: null,
    look: null,
    targets: [{ type: 'refund', id: target }],
    first_requested_at: new Date(now).toISOString(),
    attempt: 1,
    ...changes,
  }
}

const READ: ReadResult = { kind: 'read', objects: [{ type: 'refund', body: { id: 're_1' } }] }
const AWAY: ReadResult = { kind: 'failed', failure: 'provider_unavailable', text: 'Away', retryAfterMs: null }

describe('a re-read', () => {
  test("is answered with the provider's data, and then acknowledged", async () => {
    const { ask, clock, answers, done } = await harness(() => READ)
    await ask({})
    await clock.advance(1_000)
    expect(await answers()).toMatchObject([{ outcome: 'read', objects: [{ type: 'refund' }] }])
    expect(done()).toBe(1n)
  })

  test('that fails is answered as unavailable at once, because its case asks again', async () => {
    const { ask, clock, answers, retries } = await harness(() => AWAY)
    await ask({})
    await clock.advance(1_000)
    expect(await answers()).toMatchObject([{ outcome: 'unavailable', failure: 'Away' }])
    expect(await retries()).toEqual([])
  })

  test('whose key the provider refuses makes the sweep of its connection due, which reports the refusal', async () => {
    const refused: ReadResult = { kind: 'failed', failure: 'key_refused', text: 'Refused', retryAfterMs: null }
    const { ask, clock, checkedSoon, answers } = await harness(target => (target === 'refused' ? refused : AWAY))
    await ask({ reread_id: 'away' })
    await ask({ reread_id: 'refused', connection_id: 'con_2' })
    await clock.advance(1_000)
    expect(await answers()).toHaveLength(2)
    expect(checkedSoon).toEqual(['con_2'])
  })

  test.each(['subscription', 'processor'] as const)(
    'of a hint of the %s that fails waits on the delay line with its next attempt',
    async provider => {
      const { ask, clock, answers, retries, bus } = await harness(() => AWAY)
      await ask({ provider, reason: 'hint' })
      await clock.advance(1_000)
      expect(await answers()).toEqual([])
      expect(await retries()).toMatchObject([{ reread_id: 'rrd_1', attempt: 2 }])
      const dueAt = Number(bus.stored('rereads.retry')[0]?.headers['x-due-at'])
      expect(dueAt - clock.now()).toBeGreaterThan(RETRY_DELAY_MS - 2_000)
    },
  )

  test('of a deleted connection is answered as unavailable, with the reason', async () => {
    const { ask, clock, answers } = await harness(() => READ, ['con_1'])
    await ask({})
    await clock.advance(1_000)
    expect(await answers()).toMatchObject([{ outcome: 'unavailable', failure: 'The connection was deleted' }])
  })

  test('that hangs delays no other connection, and is not acknowledged', async () => {
    const { ask, clock, answers, done } = await harness(id => (id === 'hangs' ? new Promise<never>(() => {}) : READ))
    for (let count = 0; count < 4; count++) await ask({ reread_id: 'hangs' })
    await ask({ reread_id: 'quick', connection_id: 'con_2' })
    await clock.advance(1_000)
    expect((await answers()).map(({ connection_id }) => connection_id)).toEqual(['con_2'])
    expect(done() ?? 0n).toBe(0n)
  })

  test('that finds no room in the queue of its connection waits on the delay line, without counting an attempt', async () => {
    const { ask, clock, retries } = await harness(() => new Promise<never>(() => {}))
    for (let count = 0; count < 85; count++) await ask({ reread_id: `rrd_${count}` })
    await clock.advance(1_000)
    const put = await retries()
    expect(put.length).toBeGreaterThan(0)
    expect(new Set(put.map(({ attempt }) => attempt))).toEqual(new Set([1]))
  })

  test('that cannot be decoded is dead-lettered, and the next one is processed', async () => {
    const { ask, clock, answers, bus, producer } = await harness(() => READ)
    await producer.send([{ topic: 'rereads', key: 'con_1', value: Buffer.from('junk'), headers: {} }])
    await ask({})
    await clock.advance(1_000)
    expect(await answers()).toHaveLength(1)
    expect(bus.stored('inbound.dead')).toHaveLength(1)
  })
})
