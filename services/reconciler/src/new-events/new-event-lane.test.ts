import { HEADERS, type InboundEvent } from '@backstop/contracts'
import type { Bus } from '@backstop/kit/bus'
import { createConsumerMetrics } from '@backstop/kit/consume'
import { unavailable } from '@backstop/kit/errors'
import { createLogger } from '@backstop/kit/logger'
import { createMetrics } from '@backstop/kit/ops'
import { createFixedCodec, createManualClock, createMemoryBus } from '@backstop/kit/test'
import { expect, test } from 'vitest'
import { createNewEventLane } from './new-event-lane.ts'

const GROUP = 'reconciler.new-events'

function setUp(changeBus: (bus: Bus) => Bus = bus => bus) {
  const clock = createManualClock()
  const bus = createMemoryBus({ clock, partitions: 1 })
  const codec = createFixedCodec()
  const producer = bus.producer({ sendTimeoutMs: 1_000 })
  const judged: string[] = []
  const down = { isDown: false }
  const fault: { eventId: string | undefined } = { eventId: undefined }
  const lane = createNewEventLane({
    ...{ bus: changeBus(bus), producer, codec, clock, logger: createLogger('test', 'silent') },
    metrics: createConsumerMetrics(createMetrics('test')),
    ...{ maxBatchMessages: 100, maxBatchesAtOnce: 1 },
    async judge(events) {
      if (down.isDown) throw unavailable('MongoDB', new Error('down'))
      if (events.some(({ message }) => message.event_id === fault.eventId)) throw new Error('A bug')
      judged.push(...events.map(({ message }) => message.event_id))
    },
    onFatal(error) {
      throw error
    },
  })
  lane.start()
  const send = (event_id: string, headers: Record<string, string> = {}) => {
    const ids = { project_id: 'prj_1', connection_id: 'con_1', event_id, event_type: 'refund.created' }
    const event: InboundEvent = { provider: 'processor', ...ids, received_at: '2026-01-01T00:00:00.000Z', body: {} }
    const value = codec.encode('inbound-event', event)
    return producer.send([{ topic: 'inbound.processor', key: 'k', value, headers }])
  }
  const sendBytes = (value: Buffer) => producer.send([{ topic: 'inbound.processor', key: 'k', value, headers: {} }])
  const noteAgeMs = (ageMs: number) => lane.noteHandled(clock.now() - ageMs)
  const committed = () => bus.committed(GROUP, 'inbound.processor')
  return { clock, bus, lane, judged, send, sendBytes, noteAgeMs, down, fault, committed }
}

test('judges nothing while the consumer of all events is in time', async () => {
  const { clock, judged, send, noteAgeMs } = setUp()
  noteAgeMs(30_000)
  await send('a')
  await clock.advance(2_000)
  expect(judged).toEqual([])
})

test('judges the new events of a backlog and those of the ten seconds before, once, and commits nothing', async () => {
  const { clock, judged, send, noteAgeMs, committed } = setUp()
  await send('old')
  await clock.advance(12_000)
  await send('before')
  noteAgeMs(31_000)
  await clock.advance(1_000)
  await send('new')
  await clock.advance(1_000)
  expect(judged).toEqual(['before', 'new'])
  expect(committed().size).toBe(0)
})

test('leaves replayed events to the backlog', async () => {
  const { clock, judged, send, noteAgeMs } = setUp()
  noteAgeMs(31_000)
  await clock.advance(1_000)
  await send('replayed', { [HEADERS.replayId]: 'rpl_1' })
  await send('new')
  await clock.advance(1_000)
  expect(judged).toEqual(['new'])
})

test('closes when the backlog is over, and opens for the next one', async () => {
  const { clock, judged, send, noteAgeMs, lane } = setUp()
  noteAgeMs(31_000)
  await clock.advance(2_000)
  await send('of the first')
  await clock.advance(1_000)
  expect(lane.hasWork()).toBe(true)
  await clock.advance(15_000)
  expect(lane.hasWork()).toBe(false)
  await send('in time')
  await clock.advance(12_000)
  expect(judged).toEqual(['of the first'])
  noteAgeMs(31_000)
  await clock.advance(1_000)
  await send('new')
  await clock.advance(1_000)
  expect(judged).toEqual(['of the first', 'new'])
})

test('has no work when it finds only old events, so that the backlog has all batches', async () => {
  const { clock, send, noteAgeMs, lane } = setUp()
  noteAgeMs(31_000)
  await clock.advance(1_000)
  await send('new')
  await clock.advance(1_000)
  expect(lane.hasWork()).toBe(true)
  await clock.advance(3_000)
  expect(lane.hasWork()).toBe(false)
})

test('leaves what it cannot decode or judge to the consumer of all events, without a dead letter', async () => {
  const { clock, bus, judged, send, sendBytes, noteAgeMs, fault } = setUp()
  noteAgeMs(31_000)
  await clock.advance(1_000)
  await sendBytes(Buffer.from('not an event'))
  fault.eventId = 'faulty'
  await send('faulty')
  await send('new')
  await clock.advance(1_000)
  expect(judged).toEqual(['new'])
  expect(bus.stored('inbound.dead')).toEqual([])
})

test('skips events that it could not judge for half a minute, so that newer ones do not wait behind them', async () => {
  const { clock, judged, send, noteAgeMs, down } = setUp()
  noteAgeMs(31_000)
  await clock.advance(1_000)
  down.isDown = true
  await send('too late')
  for (let second = 0; second < 31; second += 1) {
    noteAgeMs(60_000)
    await clock.advance(1_000)
  }
  down.isDown = false
  await send('new')
  await clock.advance(11_000)
  expect(judged).toEqual(['new'])
})

test('stays closed after its consumer failed for good, and does not end the process', async () => {
  let consumers = 0
  const { clock, judged, send, noteAgeMs } = setUp(bus => ({
    ...bus,
    consumer(options) {
      consumers += 1
      const consumer = bus.consumer(options)
      return {
        ...consumer,
        start: async () => options.onFatal(new Error('The group is not authorized')),
        stop: async () => {},
      }
    },
  }))
  for (let second = 0; second < 5; second += 1) {
    noteAgeMs(60_000)
    await clock.advance(1_000)
  }
  await send('new')
  await clock.advance(1_000)
  expect([consumers, judged]).toEqual([1, []])
})

test('a stopped lane judges nothing more', async () => {
  const { clock, judged, send, noteAgeMs, lane } = setUp()
  noteAgeMs(31_000)
  await clock.advance(1_000)
  await lane.stop()
  await send('new')
  await clock.advance(1_000)
  expect(judged).toEqual([])
})
