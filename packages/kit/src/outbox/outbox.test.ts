import { HEADERS, type OutboxEntry } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import type { OutgoingMessage, Producer } from '../bus/bus.ts'
import type { Clock } from '../clock/clock.ts'
import { AppError, unavailable } from '../errors.ts'
import { createLogger } from '../logger.ts'
import { createOutboxPublisher, type MessageEncoder, type OutboxSource } from './outbox-publisher.ts'
import { createOutboxSweeper } from './outbox-sweeper.ts'

const recheck = { project_id: 'prj_1', ref: 'r', look_id: 'act_1', due_at: '2026-01-01T00:00:00.000Z' }
const entry = (id: string, more: Partial<OutboxEntry> = {}): OutboxEntry => ({
  id,
  topic: 'rechecks',
  key: 'sub_1',
  message: { ...recheck, look_id: id },
  headers: { [HEADERS.dueAt]: '60000' },
  ...more,
})

/** Documents in memory whose outboxes were written at a given time. */
function documents(initial: Record<string, { writtenAt: number; entries: OutboxEntry[] }>) {
  const held = new Map(Object.entries(initial))
  const source: OutboxSource = {
    pending: async (writtenBefore, limit) =>
      [...held]
        .filter(([, document]) => document.entries.length > 0 && document.writtenAt < writtenBefore)
        .slice(0, limit)
        .map(([documentId, { entries }]) => ({ documentId, entries: [...entries] })),
    published: async published => {
      for (const { documentId, entryIds } of published) {
        const document = held.get(documentId)
        if (document) document.entries = document.entries.filter(item => !entryIds.includes(item.id))
      }
    },
  }
  const all = () => [...held].map(([documentId, { entries }]) => ({ documentId, entries: [...entries] }))
  const left = () => all().flatMap(({ entries }) => entries.map(item => item.id))
  return { source, all, left, add: (id: string, item: OutboxEntry) => held.get(id)?.entries.push(item) }
}

/** A producer that records its messages and can be made to refuse them. */
function recordingProducer(refuse: (messages: readonly OutgoingMessage[]) => Error | undefined = () => undefined) {
  const sent: OutgoingMessage[] = []
  const producer: Producer = {
    start: async () => {},
    stop: async () => {},
    send: async messages => {
      const refusal = refuse(messages)
      if (refusal) throw refusal
      sent.push(...messages)
    },
  }
  return { producer, ids: () => sent.map(message => message.headers[HEADERS.messageId]), sent }
}

const encoder: MessageEncoder = { encode: (_name, message) => Buffer.from(JSON.stringify(message)) }
const logLines: string[] = []
const logger = createLogger('test', 'info', { write: line => void logLines.push(line) })

/** A clock that stands still until `pass` is called. */
function manualClock(): Clock & { pass(ms: number): Promise<void> } {
  let now = 1_000_000
  const timers = new Set<{ at: number; callback: () => void }>()
  return {
    now: () => now,
    schedule(delayMs, callback) {
      const timer = { at: now + delayMs, callback }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    async pass(ms) {
      now += ms
      for (const timer of [...timers]) {
        if (timer.at > now || !timers.delete(timer)) continue
        timer.callback()
        // Waits until everything started by the callback has settled. Nothing in it waits for real time.
        await new Promise(resolve => setImmediate(resolve))
      }
    },
  }
}

describe('the outbox publisher', () => {
  test('produces each entry with its topic, key, headers and id, then removes it', async () => {
    const stored = documents({ a: { writtenAt: 0, entries: [entry('m1'), entry('m2')] } })
    const { producer, sent } = recordingProducer()
    await createOutboxPublisher({ source: stored.source, producer, encoder, logger }).publish(stored.all())
    expect(sent.map(({ topic, key, headers }) => ({ topic, key, headers }))).toEqual([
      { topic: 'rechecks', key: 'sub_1', headers: { 'x-due-at': '60000', 'x-message-id': 'm1' } },
      { topic: 'rechecks', key: 'sub_1', headers: { 'x-due-at': '60000', 'x-message-id': 'm2' } },
    ])
    expect(JSON.parse(String(sent[0]?.value))).toMatchObject({ look_id: 'm1' })
    expect(stored.left()).toEqual([])
  })

  test('removes no entry if the broker did not acknowledge', async () => {
    const stored = documents({ a: { writtenAt: 0, entries: [entry('m1')] } })
    const { producer } = recordingProducer(() => unavailable('Kafka', undefined))
    const publisher = createOutboxPublisher({ source: stored.source, producer, encoder, logger })
    await expect(publisher.publish(stored.all())).rejects.toMatchObject({ code: 'unavailable' })
    expect(stored.left()).toEqual(['m1'])
  })

  test('leaves an entry alone that was added while it published', async () => {
    const stored = documents({ a: { writtenAt: 0, entries: [entry('m1')] } })
    const { producer, ids } = recordingProducer(() => void stored.add('a', entry('m2')))
    await createOutboxPublisher({ source: stored.source, producer, encoder, logger }).publish(stored.all())
    expect(ids()).toEqual(['m1'])
    expect(stored.left()).toEqual(['m2'])
  })

  test('a message that the broker permanently refuses stays, is logged, and blocks no other document', async () => {
    const stored = documents({
      a: { writtenAt: 0, entries: [entry('fine-1')] },
      b: { writtenAt: 0, entries: [entry('too-large')] },
      c: { writtenAt: 0, entries: [entry('fine-2')] },
    })
    const { producer, ids } = recordingProducer(messages =>
      messages.some(message => message.headers[HEADERS.messageId] === 'too-large')
        ? new AppError('message_invalid', 'Too large')
        : undefined,
    )
    logLines.length = 0
    const publisher = createOutboxPublisher({ source: stored.source, producer, encoder, logger })
    expect(await publisher.publish(stored.all())).toEqual({ stuck: 1 })
    expect(ids()).toEqual(['fine-1', 'fine-2'])
    expect(stored.left()).toEqual(['too-large'])
    expect(logLines.join()).toContain('outbox.stuck')
  })

  test('an entry with a topic without messages stays and blocks no other document', async () => {
    const stored = documents({
      a: { writtenAt: 0, entries: [entry('odd', { topic: 'inbound.dead' })] },
      b: { writtenAt: 0, entries: [entry('fine')] },
    })
    const { producer, ids } = recordingProducer()
    const publisher = createOutboxPublisher({ source: stored.source, producer, encoder, logger })
    expect(await publisher.publish(stored.all())).toEqual({ stuck: 1 })
    expect(ids()).toEqual(['fine'])
    expect(stored.left()).toEqual(['odd'])
  })
})

test('an entry that cannot be encoded blocks no other entry of its document', async () => {
  const stored = documents({ a: { writtenAt: 0, entries: [entry('odd', { topic: 'inbound.dead' }), entry('fine')] } })
  const { producer, ids } = recordingProducer()
  const publisher = createOutboxPublisher({ source: stored.source, producer, encoder, logger })
  expect(await publisher.publish(stored.all())).toEqual({ stuck: 1 })
  expect(ids()).toEqual(['fine'])
  expect(stored.left()).toEqual(['odd'])
})

describe('the outbox sweeper', () => {
  const sweeping = (
    stored: ReturnType<typeof documents>,
    producer: Producer,
    clock: Clock,
    more: { limit?: number } = {},
  ) =>
    createOutboxSweeper({
      source: stored.source,
      publisher: createOutboxPublisher({ source: stored.source, producer, encoder, logger }),
      clock,
      logger,
      ...more,
    })

  test('publishes entries older than 30 s and leaves younger entries to their writers', async () => {
    const clock = manualClock()
    const stored = documents({
      old: { writtenAt: clock.now() - 26_000, entries: [entry('old')] },
      young: { writtenAt: clock.now(), entries: [entry('young')] },
    })
    const { producer, ids } = recordingProducer()
    const sweeper = sweeping(stored, producer, clock)
    sweeper.start()
    await clock.pass(5_000)
    expect(ids()).toEqual(['old'])
    for (let i = 0; i < 6; i++) await clock.pass(5_000)
    expect(ids()).toEqual(['old', 'young'])
    await sweeper.stop()
  })

  test('continues after a sweep in which the broker was unavailable', async () => {
    const clock = manualClock()
    const stored = documents({ a: { writtenAt: 0, entries: [entry('m1')] } })
    let isDown = true
    const { producer, ids } = recordingProducer(() => (isDown ? unavailable('Kafka', undefined) : undefined))
    const sweeper = sweeping(stored, producer, clock)
    sweeper.start()
    await clock.pass(5_000)
    expect(ids()).toEqual([])
    isDown = false
    await clock.pass(5_000)
    expect(ids()).toEqual(['m1'])
    await sweeper.stop()
  })

  test('empties more documents than one read gives in one sweep', async () => {
    const clock = manualClock()
    const stored = documents(
      Object.fromEntries(Array.from({ length: 7 }, (_, i) => [`d${i}`, { writtenAt: 0, entries: [entry(`m${i}`)] }])),
    )
    const { producer } = recordingProducer()
    const sweeper = sweeping(stored, producer, clock, { limit: 2 })
    sweeper.start()
    await clock.pass(5_000)
    expect(stored.left()).toEqual([])
    await sweeper.stop()
  })

  test('a full page of documents that cannot be published does not spin', async () => {
    const clock = manualClock()
    const stored = documents({ a: { writtenAt: 0, entries: [entry('m1', { topic: 'inbound.dead' })] } })
    const { producer } = recordingProducer()
    const sweeper = sweeping(stored, producer, clock, { limit: 1 })
    sweeper.start()
    await clock.pass(5_000)
    await sweeper.stop()
    expect(stored.left()).toEqual(['m1'])
  })

  test('sweeps no more once it is stopped', async () => {
    const clock = manualClock()
    const stored = documents({ a: { writtenAt: 0, entries: [entry('m1')] } })
    const { producer, ids } = recordingProducer()
    const sweeper = sweeping(stored, producer, clock)
    sweeper.start()
    await sweeper.stop()
    await clock.pass(60_000)
    expect(ids()).toEqual([])
  })
})
