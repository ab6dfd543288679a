/**
 * A shop refunds and cancels with the official libraries of three providers. Reporters watch the libraries; the code of the shop is
 * unchanged. Every action must be explained, also those that were made while the management API was down. It is down for less than the
 * minute until the second look, because an alert about a cancellation without idempotency key is resolved only after 15 minutes.
 */
import type { ShownOperation } from '@backstop/contracts'
import { until } from '@backstop/kit/test'
import { type Environment, Paddle } from '@paddle/paddle-node-sdk'
import Chargebee from 'chargebee'
import Stripe from 'stripe'
import { afterAll, describe, expect, test } from 'vitest'
import { createClient, type Reporter, watch } from '../../packages/client/src/index.ts'
import type { Product } from '../../scripts/start/product.ts'
import { minuteProduct } from '../e2e/shared-products.ts'
import { type Connected, connectBiller, connectProcessor, connectReseller, WRITE_KEY } from '../setup/accounts.ts'
import { type Customer, openCustomer } from '../setup/customer.ts'
import { callsOfShop, type Purchases, type ShopClients } from './example-shop.ts'

describe('a shop with reporters', () => {
  const stops: (() => Promise<unknown>)[] = []
  afterAll(async () => {
    for (const stop of stops.reverse()) await stop()
  })

  interface Accounts {
    readonly cards: Connected<'processor'>
    readonly reseller: Connected<'reseller'>
    readonly biller: Connected<'subscription'>
  }

  /** When the last request was sent, which a reporter may delay. */
  interface Sent {
    lastAtMs: number
  }

  /** Opens clients that note when they send a request. A reporter watches them before that. */
  function openClients({ cards, reseller, biller }: Accounts): { clients: ShopClients; sent: Sent } {
    const sent: Sent = { lastAtMs: 0 }
    const noteSending = <T extends object>(client: T, name: string): T => {
      const original = Reflect.get(client, name) as (...args: unknown[]) => unknown
      return Object.assign(client, {
        [name]: (...args: unknown[]) => {
          sent.lastAtMs = performance.now()
          return original.apply(client, args)
        },
      })
    }
    const paddle = new Paddle(WRITE_KEY, { environment: reseller.providerApi.url as Environment })
    noteSending(Reflect.get(paddle, 'client'), 'post')
    const clients: ShopClients = {
      stripe: new Stripe(WRITE_KEY, {
        host: '127.0.0.1',
        protocol: 'http',
        port: cards.providerApi.port,
        httpClient: noteSending(Stripe.createNodeHttpClient(), 'makeRequest'),
      }),
      paddle,
      chargebee: new Chargebee({
        apiKey: WRITE_KEY,
        sdkTelemetryEnabled: false,
        site: '127.0.0.1',
        hostSuffix: '',
        protocol: 'http',
        port: biller.providerApi.port,
        httpClient: noteSending({ makeApiRequest: (request: Request) => fetch(request) }, 'makeApiRequest'),
      }),
    }
    return { clients, sent }
  }

  /** Sells what the shop then refunds and cancels. */
  function sell({ cards, reseller, biller }: Accounts): Purchases {
    const price = { amount: 4_999, currency: 'eur' }
    const pay = () => cards.account.createPayment(price)
    const subscribe = () => cards.account.subscribe(price).subscription.id
    const part = reseller.account.sell({ amount: 4_999 })
    const note = biller.account.issueCreditNote(biller.account.bill({ amount: 4_999 }).invoice.id)
    return {
      payments: [pay().paymentIntent.id, pay().paymentIntent.id, pay().charge.id],
      subscriptions: [subscribe(), subscribe(), subscribe()],
      transactions: [
        reseller.account.sell({ amount: 4_999 }).id,
        { id: part.id, item: part.details?.line_items?.[0]?.id ?? '' },
      ],
      resold: [reseller.account, reseller.account].map(it => it.subscribe({ amount: 4_999 }).subscription.id) as [
        string,
        string,
      ],
      invoice: biller.account.subscribe({ amount: 4_999 }).invoice.id,
      creditNote: note.id,
      billed: [biller.account, biller.account].map(it => it.subscribe({ amount: 4_999 }).subscription.id) as [
        string,
        string,
      ],
    }
  }

  async function setUp(): Promise<{ product: Product; customer: Customer; accounts: Accounts }> {
    const product = minuteProduct.get()
    const customer = await openCustomer(product, ['incident.opened', 'drift.detected'])
    stops.push(() => customer.stop())
    const cards = await connectProcessor(customer)
    const reseller = await connectReseller(customer)
    const biller = await connectBiller(customer)
    stops.push(...[cards, reseller, biller].map(account => () => account.stop()))
    return { product, customer, accounts: { cards, reseller, biller } }
  }

  /** Makes the calls one after another. @returns by how many milliseconds the reporter delayed each call */
  async function makeCalls(calls: readonly (() => Promise<unknown>)[], sent: Sent): Promise<number[]> {
    const delays: number[] = []
    for (const call of calls) {
      const startedAtMs = performance.now()
      await call()
      delays.push(sent.lastAtMs - startedAtMs)
    }
    return delays
  }

  function medianOf(values: readonly number[]): number {
    return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
  }

  test('every refund and cancellation of an unchanged shop is explained, also of a time when Backstop was down', async () => {
    const { product, customer, accounts } = await setUp()
    const { clients, sent } = openClients(accounts)
    const { cards, reseller, biller } = accounts
    const report = (client: object, { connection }: Pick<Connected<'processor'>, 'connection'>): Reporter =>
      watch(client, {
        baseUrl: product.urls.admin,
        key: product.key,
        connectionId: connection.connection_id,
        onProblem: () => {},
      })
    const reporters = [
      report(clients.stripe, cards),
      report(clients.paddle, reseller),
      report(clients.chargebee, biller),
    ]
    stops.push(...reporters.map(reporter => () => reporter.close({ timeoutMs: 1_000 })))
    const api = createClient({ baseUrl: product.urls.admin, key: product.key })
    const query = { project_id: customer.projectId, limit: 200 }

    async function listOperations(): Promise<ShownOperation[]> {
      const operations: ShownOperation[] = []
      for await (const operation of api.operations.list(query)) operations.push(operation)
      return operations
    }

    /** Waits until there are so many judged actions, and all are explained. */
    async function untilExplained(count: number): Promise<void> {
      const judged = async () =>
        (await customer.actions()).filter(({ kind }) => kind === 'refund' || kind === 'cancellation')
      let seen: unknown
      await until(
        `${count} explained actions`,
        async () => {
          const actions = await judged()
          seen = actions.filter(({ verdict }) => verdict !== 'explained')
          return actions.length === count && actions.every(({ verdict }) => verdict === 'explained')
        },
        { timeoutMs: 60_000, everyMs: 250, seen: () => seen },
      )
    }

    const callsWhileUp = callsOfShop(clients, sell(accounts))
    const { length: count } = callsWhileUp
    const whileUp = await makeCalls(callsWhileUp, sent)
    await untilExplained(count)
    expect(await listOperations()).toHaveLength(count)

    const admin = product.children['admin-api']
    admin.kill('SIGKILL')
    await admin.exited
    const whileDown = await makeCalls(callsOfShop(clients, sell(accounts)), sent)
    expect(reporters.map(reporter => reporter.status().queued).reduce((sum, queued) => sum + queued, 0)).toBe(count)
    admin.start()
    await admin.untilReady()
    await Promise.all(
      reporters.map(reporter => until('the reports', () => reporter.status().queued === 0, { timeoutMs: 60_000 })),
    )
    await untilExplained(2 * count)

    const operations = await listOperations()
    expect(operations).toHaveLength(2 * count)
    expect(new Set(operations.map(({ idempotency_key: key }) => key)).size).toBe(2 * count)
    expect(operations.filter(({ state }) => state !== 'completed' && state !== 'awaiting_review')).toEqual([])
    expect(reporters.map(reporter => reporter.status())).toMatchObject(
      reporters.map(() => ({ queued: 0, dropped: 0, refused: 0 })),
    )
    expect(customer.receiver.deliveries().map(({ body }) => body)).toEqual([])
    // The longest delay is measured in virtual time. A busy machine delays single calls by more.
    expect(medianOf(whileUp)).toBeLessThan(50)
    expect(medianOf(whileDown)).toBeLessThan(50)
  })
})
