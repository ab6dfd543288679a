/** Concurrent requests over two connection pools to a real MongoDB, like two processes. */
import { type NewOperation, newId } from '@backstop/contracts'
import { AppError } from '@backstop/kit/errors'
import type { PendingOutbox } from '@backstop/kit/outbox'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { alertsOf, NOW, openProject, type TestBooks, type TestProject } from './books.ts'
import { type LedgerDatabase, openLedgerDatabase } from './mongo-books.ts'

const AT_ONCE = 200
const PRICE = 10

let database: LedgerDatabase
let replicas: readonly [TestBooks, TestBooks]
const announced: PendingOutbox[] = []
beforeAll(async () => {
  database = await openLedgerDatabase()
  const options = { announce: (outbox: PendingOutbox) => void announced.push(outbox) }
  replicas = [await database.open(options), await database.open(options)]
})
afterAll(() => database.close())

/**
 * Sends all requests at once.
 * @returns the accepted ones; every other request must be refused with `budget_exceeded`
 */
async function recordConcurrently(projects: readonly TestProject[], more: Partial<NewOperation> = {}) {
  const asked = Array.from({ length: AT_ONCE }, (_, index) => {
    const { report, connection } = projects[index % projects.length]!
    const { ledger } = replicas[index % 2]!
    return ledger.record(report({ amount: PRICE, subject: `pi_${index}`, ...more }), connection, NOW)
  })
  const outcomes = await Promise.allSettled(asked)
  for (const outcome of outcomes) {
    const code =
      outcome.status === 'rejected' && (outcome.reason instanceof AppError ? outcome.reason.code : outcome.reason)
    if (outcome.status === 'rejected') expect(code).toBe('budget_exceeded')
  }
  return outcomes.flatMap(outcome => (outcome.status === 'fulfilled' ? [outcome.value.operation] : []))
}

const budget = (project: TestProject, cap: number, connectionId?: string) =>
  replicas[0].budgets.create(
    newId('budget'),
    {
      project_id: project.id,
      name: 'x',
      currency: 'eur',
      cap,
      interval: 'day',
      ...(connectionId === undefined ? {} : { connection_id: connectionId }),
    },
    NOW,
  )

describe('two hundred concurrent requests', () => {
  test('fill the budget exactly, and alert once for each share', async () => {
    const project = openProject()
    const day = await budget(project, 120 * PRICE + PRICE - 1)
    announced.length = 0
    const fitted = await recordConcurrently([project])
    expect(fitted).toHaveLength(120)
    const [usage] = await replicas[0].budgets.usage([day], NOW)
    expect(usage).toMatchObject({ used: 0, reserved: 120 * PRICE, left: PRICE - 1 })
    expect(alertsOf(announced).map(({ data }) => data.percent)).toEqual([50, 80])
  })

  test('charge all of several budgets, or none', async () => {
    const first = openProject()
    const second = openProject(first.id)
    const all = await budget(first, 123 * PRICE)
    const some = await budget(first, 45 * PRICE, first.connection._id)
    const fitted = await recordConcurrently([first, second])
    const ofFirst = fitted.filter(({ connection_id }) => connection_id === first.connection._id).length
    // The budget of the second connection has room for requests that the first connection's budget refuses.
    expect(fitted).toHaveLength(123)
    expect(ofFirst).toBeLessThanOrEqual(45)
    const usages = await replicas[1].budgets.usage([all, some], NOW)
    expect(usages.map(({ reserved }) => reserved)).toEqual([123 * PRICE, ofFirst * PRICE])
  })

  test('for executed operations are all counted', async () => {
    const project = openProject()
    const day = await budget(project, PRICE)
    const done = await recordConcurrently([project], { state: 'completed' })
    expect(done).toHaveLength(AT_ONCE)
    const [usage] = await replicas[0].budgets.usage([day], NOW)
    expect(usage).toMatchObject({ used: AT_ONCE * PRICE, reserved: 0, left: 0 })
  })

  test('with concurrent different ends leave nothing reserved', async () => {
    const project = openProject()
    const day = await budget(project, AT_ONCE * PRICE)
    const asked = await recordConcurrently([project])
    const ends = ['completed', 'failed', 'rejected'] as const
    await Promise.all(
      asked.map(({ operation_id }, index) =>
        replicas[index % 2]!.ledger.transition(operation_id, { to: ends[index % 3]! }, NOW + 1),
      ),
    )
    const [usage] = await replicas[0].budgets.usage([day], NOW)
    expect(usage).toMatchObject({ used: Math.ceil(AT_ONCE / 3) * PRICE, reserved: 0 })
  })
})

describe('operations that two processes change at the same time', () => {
  const openOperations = async () => {
    const project = openProject()
    return recordConcurrently([project], { state: 'requested' })
  }

  test('are each changed once by the same report, and every caller gets the change', async () => {
    const asked = await openOperations()
    const moved = await Promise.all(
      asked.flatMap(({ operation_id }) =>
        replicas.map(({ ledger }) => ledger.transition(operation_id, { to: 'executing' }, NOW + 1)),
      ),
    )
    expect(moved).toHaveLength(2 * AT_ONCE)
    expect(new Set(moved.map(({ operation: { state, version } }) => `${state} ${version}`))).toEqual(
      new Set(['executing 2']),
    )
  })

  test('get both of two different changes, one after the other', async () => {
    const asked = await openOperations()
    await Promise.all(
      asked.flatMap(({ operation_id }) =>
        (['executing', 'completed'] as const).map((to, index) =>
          replicas[index]!.ledger.transition(operation_id, { to }, NOW + 1).catch((error: AppError) => {
            // The earlier state came after the later one.
            expect([to, error.code]).toEqual(['executing', 'illegal_transition'])
          }),
        ),
      ),
    )
    const stored = await Promise.all(asked.map(({ operation_id }) => replicas[0].ledger.get(operation_id)))
    expect(new Set(stored.map(operation => operation?.state))).toEqual(new Set(['completed']))
  })

  test('are recorded once if both report them with the same idempotency keys', async () => {
    const project = openProject()
    const reports = Array.from({ length: AT_ONCE }, (_, index) => project.report({ idempotency_key: `key ${index}` }))
    const recorded = await Promise.all(
      reports.flatMap(report => replicas.map(({ ledger }) => ledger.record(report, project.connection, NOW))),
    )
    expect(recorded.filter(({ outcome }) => outcome === 'created')).toHaveLength(AT_ONCE)
    expect(new Set(recorded.map(({ operation }) => operation.operation_id)).size).toBe(AT_ONCE)
  })
})
