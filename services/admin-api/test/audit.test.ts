import { systemClock } from '@backstop/kit/clock'
import { unavailable } from '@backstop/kit/errors'
import { createMemoryBus } from '@backstop/kit/test'
import { afterEach, describe, expect, test } from 'vitest'
import { createTestProject, untilChained } from './contract/test-project.ts'
import { createMemoryStores } from './memory-stores.ts'
import { startTestApi, type TestApi } from './test-api.ts'

let testApi: TestApi
afterEach(() => testApi.stop())

/** Starts the API over stores that fail to write the next audit row of an action, once. */
async function startWithFailingAudit(action: string): Promise<void> {
  const stores = createMemoryStores()
  let isToFail = true
  const audit = {
    ...stores.audit,
    async insert(row: Parameters<typeof stores.audit.insert>[0]) {
      if (row.action === action && isToFail) {
        isToFail = false
        throw unavailable('MongoDB', undefined)
      }
      return stores.audit.insert(row)
    },
  }
  testApi = await startTestApi({
    stores: {
      ...stores,
      audit,
      transaction: write => stores.transaction(collections => write({ ...collections, audit })),
    },
    bus: createMemoryBus({ clock: systemClock }),
  })
}

const actionsOn = async (target: string) =>
  (await testApi.stores.audit.findAll({ target })).map(({ action, key_id }) => ({ action, key_id }))

describe('a change whose audit row could not be written', () => {
  test('is not made, and is made once by the repeat under the same Idempotency-Key', async () => {
    await startWithFailingAudit('project.create')
    const make = () => testApi.api.post('/v1/projects', { name: 'Shop' }, { 'idempotency-key': 'make-1' })
    expect((await make()).status).toBe(503)
    expect(await testApi.stores.projects.findAll({})).toEqual([])
    const { status, body } = await make()
    expect(status).toBe(201)
    expect((await make()).body).toEqual(body)
    expect(await actionsOn(body.project_id)).toEqual([{ action: 'project.create', key_id: 'key_bootstrap' }])
  })

  test('of an operation is moved to the audit later, signed and once', async () => {
    await startWithFailingAudit('operation.create')
    const { processorId } = await createTestProject(testApi.api)
    const report = { connection_id: processorId, kind: 'refund', subject: 'pi_1' }
    const { status, body } = await testApi.api.post('/v1/operations', report)
    expect(status).toBe(201)
    await testApi.api.get('/v1/audit')
    expect(await actionsOn(body.operation_id)).toEqual([])
    testApi.advanceClock(100_000)
    const row = { action: 'operation.create', key_id: 'key_bootstrap' }
    await expect.poll(() => actionsOn(body.operation_id)).toEqual([row])
    await untilChained(testApi)
    expect(await testApi.stores.audit.findAll({ target: body.operation_id })).toMatchObject([
      { ...row, unchained: false },
    ])
    const { body: verified } = await testApi.api.get('/v1/audit/verify')
    expect(verified).toMatchObject({ state: 'intact', faults: [] })
  })
})
