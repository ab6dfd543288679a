import type { AuditDocument } from '@backstop/contracts'
import type { OutgoingMessage } from '@backstop/kit/bus'
import { createLogger } from '@backstop/kit/logger'
import type { PendingOutbox } from '@backstop/kit/outbox'
import { createManualClock } from '@backstop/kit/test'
import { expect, test } from 'vitest'
import { createAnnouncer } from './announcer.ts'
import { auditEntries } from './audit-rows.ts'

function open({
  send = async (_: readonly OutgoingMessage[]) => {},
  remove = async () => {},
  insert = async () => {},
  pending = async (): Promise<PendingOutbox[]> => [],
} = {}) {
  const clock = createManualClock()
  const sent: string[] = []
  const stored: string[][] = []
  const removed: (readonly [string, readonly string[]])[][] = []
  const announcer = createAnnouncer({
    source: {
      pending: async () => [],
      async published(documents) {
        await remove()
        removed.push(documents.map(({ documentId, entryIds }) => [documentId, entryIds]))
      },
    },
    producer: {
      start: async () => {},
      stop: async () => {},
      async send(messages) {
        await send(messages)
        sent.push(...messages.map(({ key }) => key))
      },
    },
    pendingRows: { pending },
    async insertAuditRows(rows) {
      await insert()
      stored.push(rows.map(({ _id }) => _id))
    },
    encoder: { encode: () => Buffer.from('x') },
    clock,
    logger: createLogger('test', 'silent'),
  })
  const announce = (documentId: string, id: string) =>
    announcer.announce({ documentId, entries: [{ id, topic: 'operations', key: documentId, message: {} as never }] })
  return { announcer, announce, clock, sent, removed, stored }
}

test('the entries of several writes about an operation are removed together, up to a second after they were published', async () => {
  const { announcer, announce, clock, sent, removed } = open()
  announcer.start()
  announce('op_1', 'v1')
  await clock.advance(100)
  announce('op_1', 'v2')
  announce('op_2', 'v1')
  await clock.advance(100)
  expect(sent).toEqual(['op_1', 'op_1', 'op_2'])
  expect(removed).toEqual([])
  await clock.advance(300)
  expect(removed).toEqual([])
  await clock.advance(100)
  announce('op_1', 'v3')
  await clock.advance(400)
  expect(removed).toEqual([
    [
      ['op_1', ['v1', 'v2', 'v3']],
      ['op_2', ['v1']],
    ],
  ])
})

test('entries that could not be removed are removed with the next ones', async () => {
  let failures = 1
  const remove = async () => {
    if (failures-- > 0) throw new Error('unavailable')
  }
  const { announcer, announce, clock, sent, removed } = open({ remove })
  announcer.start()
  announce('op_1', 'v1')
  await clock.advance(1_000)
  expect(sent).toEqual(['op_1'])
  expect(removed).toEqual([])
  announce('op_1', 'v2')
  await clock.advance(1_000)
  expect(removed).toEqual([[['op_1', ['v1', 'v2']]]])
})

test('a stop waits for what is on its way to Kafka, and removes it', async () => {
  const arrived = Promise.withResolvers<void>()
  const { announcer, announce, removed } = open({ send: () => arrived.promise })
  announcer.start()
  announce('op_1', 'v1')
  const stopped = announcer.stop()
  arrived.resolve()
  await stopped
  expect(removed).toEqual([[['op_1', ['v1']]]])
})

test('what Kafka does not take stays in its document', async () => {
  const { announcer, announce, removed } = open({ send: () => Promise.reject(new Error('unavailable')) })
  announcer.start()
  announce('op_1', 'v1')
  await announcer.stop()
  expect(removed).toEqual([])
})

test('while 5,000 writes wait for Kafka, further ones are left to the sweeper', async () => {
  const arrived = Promise.withResolvers<void>()
  const { announcer, announce, sent } = open({ send: () => arrived.promise })
  announcer.start()
  for (let index = 0; index < 5_001; index++) announce(`op_${index}`, 'v1')
  arrived.resolve()
  await announcer.stop()
  expect(sent).toHaveLength(5_000)
  expect(sent).not.toContain('op_5000')
})

test('a stop does not wait for many sends to an unavailable Kafka', async () => {
  let sends = 0
  const first = Promise.withResolvers<void>()
  const send = async () => {
    sends++
    if (sends === 1) await first.promise
    throw new Error('unavailable')
  }
  const { announcer, announce, clock } = open({ send })
  announcer.start()
  for (let index = 0; index < 2_000; index++) {
    announce(`op_${index}`, 'v1')
    if (index % 100 === 0) await clock.advance(25)
  }
  const stopped = announcer.stop()
  first.resolve()
  await stopped
  expect(sends).toBe(1)
})

const rowOf = (documentId: string, _id: string): PendingOutbox => ({
  documentId,
  entries: auditEntries({ _id, target: documentId } as AuditDocument),
})

test('audit rows of a short time are moved with one command, and removed with the messages of their operations', async () => {
  const { announcer, clock, sent, removed, stored } = open()
  announcer.start()
  const message = { id: 'v1', topic: 'operations', key: 'op_1', message: {} as never }
  announcer.announce({ documentId: 'op_1', entries: [message, ...rowOf('op_1', 'aud_1').entries] })
  announcer.announce(rowOf('op_2', 'aud_2'))
  await clock.advance(100)
  expect([sent, stored]).toEqual([['op_1'], [['aud_1', 'aud_2']]])
  await clock.advance(900)
  expect(removed).toEqual([
    [
      ['op_1', expect.arrayContaining(['v1', 'aud_1'])],
      ['op_2', ['aud_2']],
    ],
  ])
})

test('audit rows are moved at once before the audit is read', async () => {
  const { announcer, stored } = open()
  announcer.announce(rowOf('op_1', 'aud_1'))
  await announcer.flushAuditRows()
  expect(stored).toEqual([['aud_1']])
})

test('audit rows that MongoDB refused at first are moved by the sweeper', async () => {
  let failures = 1
  const waiting = [rowOf('op_1', 'aud_1')]
  const { announcer, clock, removed, stored } = open({
    insert: async () => {
      if (failures-- > 0) throw new Error('unavailable')
    },
    pending: async () => waiting.splice(0),
  })
  announcer.start()
  announcer.announce(rowOf('op_1', 'aud_1'))
  await clock.advance(1_000)
  expect([stored, removed]).toEqual([[], []])
  await clock.advance(60_000)
  expect(stored).toEqual([['aud_1']])
  expect(removed).toContainEqual([['op_1', ['aud_1']]])
})

test('an audit row that is none blocks no other', async () => {
  const broken = { id: 'x', topic: 'audit', key: 'op_1', message: null }
  const waiting = [{ documentId: 'op_1', entries: [broken, ...rowOf('op_1', 'aud_1').entries] }]
  const { announcer, clock, removed, stored } = open({ pending: async () => waiting.splice(0) })
  announcer.start()
  await clock.advance(60_000)
  expect(stored).toEqual([['aud_1']])
  expect(removed).toContainEqual([['op_1', ['aud_1']]])
})
