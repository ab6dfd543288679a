import { createManualClock } from '@backstop/kit/test'
import { expect, test } from 'vitest'
import { createApiClient } from '../../../test/api-client.ts'
import { createMemoryStores } from '../../../test/memory-stores.ts'
import { createTestApp } from '../../../test/test-api.ts'
import { ROWS_AT_ONCE } from './chain-rows.ts'

test('a row of refusals that still changes costs no transaction until it joins the chain', async () => {
  const clock = createManualClock()
  const stores = createMemoryStores()
  let transactions = 0
  const counted: typeof stores.transaction = write => {
    transactions += 1
    return stores.transaction(write)
  }
  const app = createTestApp({ clock, stores: { ...stores, transaction: counted } })
  await app.start()
  try {
    await clock.advance(20_000)
    const address = `http://127.0.0.1:${app.port()}`
    expect((await createApiClient(address, 'bk_wrong').get('/v1/projects')).status).toBe(401)
    const chained = async () => {
      const rows = await stores.audit.findAll({ count: { min: 1 } })
      return rows.map(({ sequence }) => sequence !== undefined)
    }
    await clock.advance(15_000)
    expect(await chained()).toEqual([false])
    transactions = 0
    await clock.advance(50_000)
    // The head is still compared with the one that was seen, every ten seconds.
    expect(transactions).toBeLessThanOrEqual(6)
    expect(await chained()).toEqual([false])
    await clock.advance(60_000)
    expect(await chained()).toEqual([true])
  } finally {
    await app.stop()
  }
})

test('rows that do not fit into one step join without waiting for the next two seconds', async () => {
  const clock = createManualClock()
  const stores = createMemoryStores()
  const app = createTestApp({ clock, stores })
  await app.start()
  try {
    await clock.advance(20_000)
    const row = {
      key_id: null,
      actor: null,
      action: 'test',
      target: 'x',
      project_id: null,
      request_id: null,
      address: null,
    }
    const rows = Array.from({ length: 2 * ROWS_AT_ONCE + 50 }, (_, index) => ({
      ...row,
      _id: `aud_${index}`,
      at: new Date(clock.now()),
      changes: [],
      unchained: true,
    }))
    await stores.audit.putAll(rows)
    const waiting = async () => (await stores.audit.findAll({ unchained: true })).length
    expect(await waiting()).toBe(rows.length)
    await clock.advance(2_500)
    expect(await waiting()).toBe(0)
  } finally {
    await app.stop()
  }
})
