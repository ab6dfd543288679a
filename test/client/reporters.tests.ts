/**
 * Shops in Node and in Python refund and cancel with the official libraries of three providers. Reporters watch the libraries; the code of
 * the shops is unchanged. Every action must be explained, also those that were made while the management API was down. It is down for less
 * than the minute until the second look, because an alert about a cancellation without any name is resolved only after 15 minutes;
 * `BACKSTOP_OUTAGE_S` makes it down for longer, and then alerts are allowed.
 */
import type { ShownOperation } from '@backstop/contracts'
import { until } from '@backstop/kit/test'
import { afterAll, describe, expect, test } from 'vitest'
import { createClient } from '../../packages/client/src/index.ts'
import { minuteProduct } from '../e2e/shared-products.ts'
import { connectBiller, connectProcessor, connectReseller } from '../setup/accounts.ts'
import { openCustomer } from '../setup/customer.ts'
import { openNodeShop } from './shops/node-shop.ts'
import { openPythonShop } from './shops/python-shop.ts'
import { CALLS, type Shop, sell } from './shops/shop.ts'

const OUTAGE_S = Number(process.env.BACKSTOP_OUTAGE_S ?? 0)
const EXPLAINED_WITHIN_MS = OUTAGE_S > 0 ? 1_200_000 : 60_000

describe('a shop with reporters', () => {
  const stops: (() => Promise<unknown>)[] = []
  afterAll(async () => {
    for (const stop of stops.reverse()) await stop()
  })

  async function setUp() {
    const product = minuteProduct.get()
    const customer = await openCustomer(product, ['incident.opened', 'drift.detected'])
    stops.push(() => customer.stop())
    const accounts = {
      cards: await connectProcessor(customer),
      reseller: await connectReseller(customer),
      biller: await connectBiller(customer),
    }
    stops.push(...Object.values(accounts).map(account => () => account.stop()))
    const shops: Shop[] = [openNodeShop(product, accounts), await openPythonShop(product, accounts)]
    stops.push(...shops.map(shop => () => shop.stop()))
    return { product, customer, accounts, shops }
  }

  function medianOf(values: readonly number[]): number {
    return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
  }

  const timeout = 900_000 + 1_000 * OUTAGE_S + EXPLAINED_WITHIN_MS

  test('every refund and cancellation of an unchanged shop is explained, also of a time when Backstop was down', {
    timeout,
  }, async () => {
    const { product, customer, accounts, shops } = await setUp()
    const api = createClient({ baseUrl: product.urls.admin, key: product.key })
    const count = shops.length * CALLS

    async function listOperations(): Promise<ShownOperation[]> {
      const operations: ShownOperation[] = []
      const query = { project_id: customer.projectId, limit: 200 }
      for await (const operation of api.operations.list(query)) operations.push(operation)
      return operations
    }

    /** Waits until there are so many judged actions, and all are explained. */
    async function untilExplained(wanted: number): Promise<void> {
      const judged = async () =>
        (await customer.actions()).filter(({ kind }) => kind === 'refund' || kind === 'cancellation')
      let seen: unknown
      await until(
        `${wanted} explained actions`,
        async () => {
          const actions = await judged()
          seen = actions.filter(({ verdict }) => verdict !== 'explained')
          return actions.length === wanted && actions.every(({ verdict }) => verdict === 'explained')
        },
        { timeoutMs: EXPLAINED_WITHIN_MS, everyMs: 250, seen: () => seen },
      )
    }

    /** @returns the median duration of the calls of each shop, in milliseconds */
    const makeCalls = () => Promise.all(shops.map(async shop => medianOf(await shop.makeCalls(sell(accounts)))))
    const queued = async () => (await Promise.all(shops.map(shop => shop.counts()))).map(counts => counts.queued)

    const whileUp = await makeCalls()
    await untilExplained(count)
    expect(await listOperations()).toHaveLength(count)

    const admin = product.children['admin-api']
    admin.kill('SIGKILL')
    await admin.exited
    const downSinceMs = performance.now()
    const whileDown = await makeCalls()
    expect(await queued()).toEqual(shops.map(() => CALLS))
    await until('the end of the outage', () => performance.now() >= downSinceMs + OUTAGE_S * 1_000, {
      timeoutMs: OUTAGE_S * 1_000 + 1_000,
    })
    admin.start()
    await admin.untilReady()
    await until('the reports', async () => (await queued()).every(waiting => waiting === 0), { timeoutMs: 60_000 })
    await untilExplained(2 * count)

    const operations = await listOperations()
    expect(operations).toHaveLength(2 * count)
    expect(new Set(operations.map(({ idempotency_key: key }) => key)).size).toBe(2 * count)
    expect(operations.filter(({ state }) => state !== 'completed' && state !== 'awaiting_review')).toEqual([])
    expect(await Promise.all(shops.map(shop => shop.counts()))).toEqual(
      shops.map(() => ({ queued: 0, dropped: 0, refused: 0 })),
    )
    if (OUTAGE_S === 0) expect(customer.receiver.deliveries().map(({ body }) => body)).toEqual([])
    // The longest delay is measured in virtual time. On a busy machine only a comparison says something: a call that waits for Backstop waits
    // for seconds.
    for (const [shop, median] of whileDown.entries()) expect(median).toBeLessThan(2 * (whileUp[shop] ?? 0) + 500)
  })
})
