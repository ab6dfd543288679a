/** Approval timers in several processes: two at once, and one that is killed and restarted. */
import { fileURLToPath } from 'node:url'
import { type Alert, HEADERS } from '@backstop/contracts'
import type { IncomingMessage } from '@backstop/kit/bus'
import { createAheadClock, createFixedCodec, createMemoryBus, readAll, startProgram, until } from '@backstop/kit/test'
import { afterAll, expect, test } from 'vitest'
import { publishLedger } from '../src/published-ledger.ts'
import { openProject } from './books.ts'
import { type LedgerDatabase, openLedgerDatabase } from './mongo-books.ts'

const CHILD = fileURLToPath(new URL('ledger-process.ts', import.meta.url))
const codec = createFixedCodec()
const cleanUps: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp()
})

async function openDatabase(): Promise<LedgerDatabase> {
  const database = await openLedgerDatabase()
  cleanUps.push(() => database.close())
  return database
}

/** Creates operations that wait for approval from now on. */
async function ask({ open }: LedgerDatabase, count: number, deadlineSeconds: number) {
  const books = await open({ announce: () => {} })
  const project = openProject()
  await books.requireApproval(project.id, deadlineSeconds)
  const asked = Array.from({ length: count }, () =>
    books.ledger.record(project.report(), project.connection, Date.now()),
  )
  const operations = (await Promise.all(asked)).map(({ operation }) => operation)
  const states = async () => (await books.ledger.list({ projectId: project.id, limit: 1000 })).map(({ state }) => state)
  const isPublished = async () => (await books.outboxSource.pending(Date.now() + 1, 10)).length === 0
  return { operations, states, isPublished }
}

test('two processes remind and expire each approval once', async () => {
  const database = await openDatabase()
  const { openBooks: open, stack } = database
  const clock = createAheadClock()
  const bus = createMemoryBus({ clock })
  const producer = bus.producer({ sendTimeoutMs: 5_000 })
  await producer.start()
  const replicas = [0, 1].map(() => {
    const parts = { open, producer, encoder: codec, clock, logger: stack.logger }
    return publishLedger(parts).approvalTimers
  })
  for (const timers of replicas) timers.start()
  const announced = async (event: string) => {
    const alerts = await Promise.all(
      bus.stored('alerts').map(({ value }) => codec.decode('alert', value) as Promise<Alert>),
    )
    return alerts.filter(alert => alert.event === event).map(({ alert_id }) => alert_id)
  }
  // On a busy machine the reminders take seconds, and a reminder that is later than its deadline is not sent.
  const { operations } = await ask(database, 40, 3_600)
  for (const event of ['approval.reminder', 'approval.expired']) {
    clock.advance(1_800_000)
    await until(`each ${event}`, async () => new Set(await announced(event)).size === operations.length, {
      timeoutMs: 30_000,
    })
  }
  await Promise.all(replicas.map(timers => timers.stop()))
  for (const event of ['approval.reminder', 'approval.expired']) {
    expect({ event, announced: (await announced(event)).length }).toEqual({ event, announced: operations.length })
  }
})

test('killed after its first alert and started again, a process loses no alert, and each alert has one id', async () => {
  const database = await openDatabase()
  const { stack } = database
  await stack.createTopics(['operations', 'alerts'], 1)
  const { operations, states, isPublished } = await ask(database, 2, 20)

  using doomed = startProgram(CHILD, stack)
  const requested = operations.length
  await readAll(stack, 'alerts', all => all.length > requested, 60_000)
  await doomed.kill()
  using _restarted = startProgram(CHILD, stack)
  const isDone = async () => (await states()).every(state => state === 'expired') && (await isPublished())
  await until('everything is published', isDone, { timeoutMs: 90_000, everyMs: 200 })
  const stored = await readAll(stack, 'alerts', all => all.length >= 2 * requested)
  const idsByEvent = new Map<string, Set<string>>()
  for (const message of stored) {
    const alert = (await codec.decode('alert', message.value)) as Alert
    expect(idOf(message)).toBe(alert.alert_id)
    idsByEvent.set(alert.event, (idsByEvent.get(alert.event) ?? new Set()).add(alert.alert_id))
  }
  const counts = Object.fromEntries([...idsByEvent].map(([event, ids]) => [event, ids.size]))
  expect(counts).toMatchObject({ 'approval.requested': requested, 'approval.expired': requested })
  // A reminder that is later than its deadline is not sent.
  expect(counts['approval.reminder'] ?? 0).toBeLessThanOrEqual(requested)
})

const idOf = (message: IncomingMessage) => message.headers[HEADERS.messageId]
