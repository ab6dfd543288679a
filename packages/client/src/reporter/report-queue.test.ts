import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { ApiProblem, NoAnswer } from '../api-problem.ts'
import type { NewOperation } from '../generated/api.ts'
import { createReport, type Report, type ReportBody } from './report.ts'
import { type QueueOptions, type ReporterProblem, ReportQueue, type Spool } from './report-queue.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** Sends each report of a batch by itself. A refused report refuses no other. */
const itemwise =
  (send: (body: NewOperation) => Promise<unknown>): QueueOptions['send'] =>
  bodies => {
    const refusal = (error: unknown) => {
      if (error instanceof ApiProblem) return error
      throw error
    }
    return Promise.all(bodies.map(body => send(body).then(() => undefined, refusal)))
  }

function setUp(options: Partial<QueueOptions> = {}) {
  const sent: NewOperation[] = []
  const problems: ReporterProblem[] = []
  let attempts = 0
  let failure: Error | undefined
  const queue = new ReportQueue({
    async send(bodies) {
      attempts++
      if (failure !== undefined) throw failure
      sent.push(...bodies)
      return bodies.map(() => undefined)
    },
    maxQueued: 100,
    onProblem: problem => problems.push(problem),
    ...options,
  })
  return {
    queue,
    sent,
    problems,
    attempts: () => attempts,
    fail(error: Error | undefined) {
      failure = error
    },
  }
}

const reportOf = (key: string, more: Partial<ReportBody> = {}, notBeforeMs?: number) =>
  createReport(
    {
      connection_id: 'con_1',
      kind: 'refund',
      subject: 'pi_1',
      idempotency_key: key,
      state: 'executing',
      executing_at: new Date().toISOString(),
      ...more,
    },
    notBeforeMs,
  )
const down = new NoAnswer('down')
const problem = (
  status: number,
  code: 'idempotency_conflict' | 'invalid_request' | 'not_found' | 'unauthenticated',
  retryAfterMs?: number,
) => new ApiProblem(status, { code, detail: code }, retryAfterMs)
const MINUTE_MS = 60_000

describe('while Backstop is down for ten minutes', () => {
  test('every operation waits, and is sent once with its own times afterwards', async () => {
    const { queue, sent, attempts, fail } = setUp()
    fail(down)
    const startedAt = Date.now()
    for (let minute = 0; minute < 10; minute++) {
      const executing_at = new Date().toISOString()
      await queue.add(reportOf(`k${minute}`, { executing_at }))
      void queue.add(reportOf(`k${minute}`, { state: 'completed', executing_at, ended_at: executing_at }))
      await vi.advanceTimersByTimeAsync(MINUTE_MS)
    }
    expect(queue.status()).toMatchObject({ queued: 10, delivered: 0, dropped: 0, lastError: 'down' })
    expect(attempts()).toBeLessThan(60)
    fail(undefined)
    await vi.advanceTimersByTimeAsync(MINUTE_MS)
    expect(queue.status()).toMatchObject({ queued: 0, delivered: 10, dropped: 0, refused: 0, lastError: null })
    expect(sent.map(({ idempotency_key: key, state }) => `${key} ${state}`)).toEqual(
      Array.from({ length: 10 }, (_, minute) => `k${minute} completed`),
    )
    expect(sent.map(({ ended_at }) => Date.parse(String(ended_at)) - startedAt)).toEqual(
      Array.from({ length: 10 }, (_, minute) => minute * MINUTE_MS),
    )
  })

  test('it is reported once as a problem, and each report without an attempt does not wait', async () => {
    const { queue, problems, attempts, fail } = setUp()
    fail(down)
    expect(await queue.add(reportOf('a'))).toBe(false)
    for (let count = 0; count < 50; count++) expect(await queue.add(reportOf(`b${count}`))).toBe(false)
    expect(attempts()).toBe(1)
    expect(problems).toMatchObject([{ kind: 'undelivered', queued: 1 }])
  })

  test('the oldest operation is dropped, counted and reported if too many wait', async () => {
    const { queue, sent, problems, fail } = setUp({ maxQueued: 2 })
    fail(down)
    for (const key of ['a', 'b', 'c']) await queue.add(reportOf(key))
    expect(queue.status()).toMatchObject({ queued: 2, dropped: 1 })
    expect(problems).toMatchObject([
      { kind: 'undelivered' },
      { kind: 'dropped', report: { body: { idempotency_key: 'a' } } },
    ])
    fail(undefined)
    await vi.advanceTimersByTimeAsync(MINUTE_MS)
    expect(sent.map(({ idempotency_key: key }) => key)).toEqual(['b', 'c'])
  })

  test('flush returns false after its time, and true once everything is sent', async () => {
    const { queue, fail } = setUp()
    fail(down)
    await queue.add(reportOf('a'))
    const flushed = queue.flush(1_000)
    await vi.advanceTimersByTimeAsync(1_500)
    expect(await flushed).toBe(false)
    fail(undefined)
    expect(await queue.flush(1_000)).toBe(true)
  })
})

test.each([401, 403, 404, 429, 500, 503])('a report waits after the status %i, which may pass', async status => {
  const { queue, sent, fail } = setUp()
  fail(problem(status, 'unauthenticated'))
  await queue.add(reportOf('a'))
  expect(queue.status()).toMatchObject({ queued: 1, refused: 0 })
  fail(undefined)
  await vi.advanceTimersByTimeAsync(30_000)
  expect(sent).toHaveLength(1)
})

test('a report about an unknown connection waits and delays no other', async () => {
  const sent: string[] = []
  const { queue, problems } = setUp({
    send: itemwise(async ({ connection_id: connection }) => {
      if (connection === 'con_unknown') throw problem(404, 'not_found')
      sent.push(connection)
    }),
  })
  await queue.add(reportOf('a', { connection_id: 'con_unknown' }))
  for (let count = 0; count < 10; count++) await queue.add(reportOf(`b${count}`))
  expect(sent).toHaveLength(10)
  await vi.advanceTimersByTimeAsync(10 * MINUTE_MS)
  expect(queue.status()).toMatchObject({ queued: 1, lastError: 'not_found' })
  expect(problems).toMatchObject([{ kind: 'undelivered' }])
})

test('reports that wait leave together, and each call gets the result of its own', async () => {
  const batches: string[][] = []
  const { queue } = setUp({
    async send(bodies) {
      batches.push(bodies.map(({ subject }) => subject))
      await new Promise(resolve => setTimeout(resolve, 10))
      return bodies.map(({ subject }) => (subject === 'pi_6' ? problem(404, 'not_found') : undefined))
    },
  })
  const added = Array.from({ length: 9 }, (_, at) => queue.add(reportOf(`k${at}`, { subject: `pi_${at}` })))
  await vi.advanceTimersByTimeAsync(25)
  expect(batches).toEqual([['pi_0'], ['pi_1'], ['pi_2', 'pi_3', 'pi_4', 'pi_5', 'pi_6', 'pi_7', 'pi_8']])
  expect(await Promise.all(added)).toEqual([true, true, true, true, true, true, false, true, true])
  expect(queue.status()).toMatchObject({ queued: 1, delivered: 8 })
})

test('a report that refuses its whole batch is refused alone', async () => {
  const sent: string[] = []
  const { queue, problems } = setUp({
    async send(bodies) {
      if (bodies.some(({ subject }) => subject === '')) throw problem(400, 'invalid_request')
      sent.push(...bodies.map(({ subject }) => subject))
      return bodies.map(() => undefined)
    },
  })
  const subjects = ['a', 'b', 'c', 'd', '', 'e', 'f', 'g', 'h']
  await Promise.all(subjects.map((subject, at) => queue.add(reportOf(`k${at}`, { subject }))))
  expect(sent.toSorted()).toEqual(subjects.filter(subject => subject !== ''))
  expect(problems).toMatchObject([{ kind: 'refused', report: { body: { subject: '' } } }])
})

test.each([400, 403, 404, 413, 500])('every report waits after %i from a proxy, which is one problem', async status => {
  const { queue, problems, fail, attempts } = setUp()
  fail(new ApiProblem(status, {}))
  for (let count = 0; count < 20; count++) await queue.add(reportOf(`k${count}`))
  expect(queue.status()).toMatchObject({ queued: 20, refused: 0 })
  expect([problems.length, attempts()]).toEqual([1, 1])
  fail(undefined)
  await vi.advanceTimersByTimeAsync(31_000)
  expect(queue.status()).toMatchObject({ queued: 0, delivered: 20 })
})

test('a report that makes Backstop fail does not hold up the others', async () => {
  const sent: string[] = []
  const { queue } = setUp({
    async send(bodies) {
      if (bodies.some(({ subject }) => subject === 'bad')) throw problem(500, 'not_found')
      sent.push(...bodies.map(({ subject }) => subject))
      return bodies.map(() => undefined)
    },
  })
  for (const subject of ['bad', 'a', 'b']) void queue.add(reportOf(subject, { subject }))
  await vi.advanceTimersByTimeAsync(10_000)
  expect(sent).toEqual(['a', 'b'])
  expect(queue.status()).toMatchObject({ queued: 1 })
})

test('waits an hour at most, whatever an answer asks for', async () => {
  const { queue, sent, fail } = setUp()
  fail(problem(429, 'unauthenticated', 30 * 86_400_000))
  await queue.add(reportOf('a'))
  fail(undefined)
  await vi.advanceTimersByTimeAsync(59 * MINUTE_MS)
  expect(sent).toEqual([])
  await vi.advanceTimersByTimeAsync(2 * MINUTE_MS)
  expect(sent).toHaveLength(1)
})

test('waits for as long as Backstop asks', async () => {
  const { queue, sent, fail } = setUp()
  fail(problem(429, 'unauthenticated', 45_000))
  await queue.add(reportOf('a'))
  fail(undefined)
  await vi.advanceTimersByTimeAsync(44_000)
  expect(sent).toEqual([])
  await vi.advanceTimersByTimeAsync(2_000)
  expect(sent).toHaveLength(1)
})

test('a refused report is sent once more without its times, and then counted as refused', async () => {
  const bodies: NewOperation[] = []
  const { queue, problems } = setUp({
    send: itemwise(async body => {
      bodies.push(body)
      throw problem(409, 'idempotency_conflict')
    }),
  })
  await queue.add(reportOf('a'))
  expect(bodies.map(body => 'executing_at' in body)).toEqual([true, false])
  expect(queue.status()).toMatchObject({ queued: 0, refused: 1 })
  expect(problems).toMatchObject([{ kind: 'refused', error: { code: 'idempotency_conflict' } }])
})

test('a repeated call that the provider answers as before is recorded as one operation', async () => {
  const bodies: NewOperation[] = []
  const { queue } = setUp({
    send: itemwise(async body => {
      bodies.push(body)
      if ('executing_at' in body && bodies.length > 1) throw problem(409, 'idempotency_conflict')
    }),
  })
  await queue.add(reportOf('a'))
  await queue.add(reportOf('a'))
  expect(queue.status()).toMatchObject({ queued: 0, delivered: 2, refused: 0 })
})

test('a temporary failure is not reported if the call is repeated within a minute', async () => {
  const { queue, sent } = setUp()
  const executing_at = new Date().toISOString()
  await queue.add(reportOf('a'))
  void queue.add(reportOf('a', { state: 'failed', ended_at: executing_at }, Date.now() + MINUTE_MS))
  await vi.advanceTimersByTimeAsync(5_000)
  await queue.add(reportOf('a'))
  await queue.add(reportOf('a', { state: 'completed', executing_at: new Date().toISOString() }))
  await vi.advanceTimersByTimeAsync(2 * MINUTE_MS)
  expect(sent.map(({ state }) => state)).toEqual(['executing', 'executing', 'completed'])
})

test('a temporary failure is reported after a minute', async () => {
  const { queue, sent } = setUp()
  void queue.add(reportOf('a', { state: 'failed' }, Date.now() + MINUTE_MS))
  await vi.advanceTimersByTimeAsync(59_000)
  expect(sent).toEqual([])
  await vi.advanceTimersByTimeAsync(2_000)
  expect(sent).toMatchObject([{ state: 'failed' }])
})

test('an operation that completed while Backstop was down is not reported as failed if a repeat of its call fails', async () => {
  const { queue, sent, fail } = setUp()
  fail(down)
  await queue.add(reportOf('a', { state: 'completed', provider_ref: 're_1' }))
  await queue.add(reportOf('a', { state: 'failed', reason: 'timeout' }, Date.now() + MINUTE_MS))
  fail(undefined)
  expect(await queue.flush(1_000)).toBe(true)
  expect(sent).toMatchObject([{ state: 'completed', provider_ref: 're_1' }])
})

test('an operation that ended while Backstop was down does not begin again', async () => {
  const { queue, sent, fail } = setUp()
  fail(down)
  await queue.add(reportOf('a', { state: 'completed' }))
  await queue.add(reportOf('a'))
  fail(undefined)
  await vi.advanceTimersByTimeAsync(MINUTE_MS)
  expect(sent).toMatchObject([{ state: 'completed' }])
})

describe('with a spool', () => {
  /** A spool in memory, as it is after a crash. */
  function createMemorySpool() {
    const saved = new Map<string, Report>()
    const spool: Spool = {
      load: async () => [...saved.values()],
      save: report => void saved.set(report.id, report),
      remove: id => void saved.delete(id),
      close: async () => {},
    }
    return { saved, spool }
  }

  test('the end of an operation is reported a minute after a crash during its call, with its own begin', async () => {
    const { saved, spool } = createMemorySpool()
    const before = setUp({ spool })
    const executing_at = new Date().toISOString()
    expect(await before.queue.add(reportOf('a', { executing_at }))).toBe(true)
    expect(saved.size).toBe(1)
    await vi.advanceTimersByTimeAsync(10 * MINUTE_MS)
    const ended_at = new Date().toISOString()
    const { sent } = setUp({ spool })
    await vi.advanceTimersByTimeAsync(MINUTE_MS - 1_000)
    expect(sent).toEqual([])
    await vi.advanceTimersByTimeAsync(2_000)
    expect(sent).toMatchObject([{ idempotency_key: 'a', state: 'failed', executing_at, ended_at }])
    expect(saved.size).toBe(0)
  })

  test('a call that is repeated within a minute after a crash is not reported as failed', async () => {
    const { saved, spool } = createMemorySpool()
    await setUp({ spool }).queue.add(reportOf('a'))
    const { queue, sent } = setUp({ spool })
    await vi.advanceTimersByTimeAsync(1_000)
    await queue.add(reportOf('a'))
    await queue.add(reportOf('a', { state: 'completed' }))
    await vi.advanceTimersByTimeAsync(2 * MINUTE_MS)
    expect(sent.map(({ state }) => state)).toEqual(['executing', 'completed'])
    expect(saved.size).toBe(0)
  })

  test('a crash after the end was queued reports that end', async () => {
    const { spool } = createMemorySpool()
    const before = setUp({ spool })
    await before.queue.add(reportOf('a'))
    before.fail(down)
    await before.queue.add(reportOf('a', { state: 'completed', provider_ref: 're_1' }))
    await before.queue.stop()
    const { sent } = setUp({ spool })
    await vi.advanceTimersByTimeAsync(1_000)
    expect(sent).toMatchObject([{ state: 'completed', provider_ref: 're_1' }])
  })
})
