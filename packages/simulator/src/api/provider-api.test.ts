/** What the three APIs have in common: each must show every kind of trouble in its own error format. */
import { afterEach, describe, expect, test } from 'vitest'
import { createBiller } from '../biller/account.ts'
import { startBillerApi } from '../biller/api/server.ts'
import { createChance } from '../chance.ts'
import { createCardProcessor } from '../processor/account.ts'
import { startProcessorApi } from '../processor/api/server.ts'
import { createReseller } from '../reseller/account.ts'
import { startResellerApi } from '../reseller/api/server.ts'
import type { ProviderApi, ProviderApiOptions } from './provider-api.ts'
import type { Trouble } from './trouble.ts'

const KEY = 'key_reader'
const BEARER = `Bearer ${KEY}`
const BASIC = `Basic ${Buffer.from(`${KEY}:`).toString('base64')}`
const open: ProviderApi[] = []
afterEach(async () => {
  for (const api of open.splice(0)) await api.stop()
})

interface Provider {
  name: string
  /** Paths of a list, and of an object that was just created. */
  list: string
  authorization: string
  start(options: ProviderApiOptions): Promise<{ api: ProviderApi; object: string }>
  /** The path of the code in an error body. */
  codeIn(body: object): unknown
  codes: { rateLimited: unknown; failing: unknown; missing: unknown }
}

const providers: Provider[] = [
  {
    name: 'processor',
    list: '/v1/refunds',
    authorization: BEARER,
    async start(options) {
      const processor = createCardProcessor({ now: options.now, chance: createChance(1) })
      const { charge } = processor.createPayment({ amount: 1_000, currency: 'eur' })
      return { api: await startProcessorApi({ processor, ...options }), object: `/v1/charges/${charge.id}` }
    },
    codeIn: body => Reflect.get(Reflect.get(body, 'error'), 'code') ?? Reflect.get(Reflect.get(body, 'error'), 'type'),
    codes: { rateLimited: 'rate_limit', failing: 'api_error', missing: 'resource_missing' },
  },
  {
    name: 'reseller',
    list: '/adjustments',
    authorization: BEARER,
    async start(options) {
      const reseller = createReseller({ now: options.now, chance: createChance(1) })
      const { subscription } = reseller.subscribe({ amount: 1_000 })
      return { api: await startResellerApi({ reseller, ...options }), object: `/subscriptions/${subscription.id}` }
    },
    codeIn: body => Reflect.get(Reflect.get(body, 'error'), 'code'),
    codes: { rateLimited: 'too_many_requests', failing: 'service_unavailable', missing: 'not_found' },
  },
  {
    name: 'subscription biller',
    list: '/api/v2/transactions',
    authorization: BASIC,
    async start(options) {
      const biller = createBiller({ now: options.now, chance: createChance(1) })
      const { payment } = biller.bill({ amount: 1_000 })
      return { api: await startBillerApi({ biller, ...options }), object: `/api/v2/transactions/${payment.id}` }
    },
    codeIn: body => Reflect.get(body, 'api_error_code'),
    codes: {
      rateLimited: 'api_request_limit_exceeded',
      failing: 'internal_temporary_error',
      missing: 'resource_not_found',
    },
  },
]

describe.each(providers)('the API of the $name', provider => {
  async function setUp(options: Partial<ProviderApiOptions> = {}) {
    let clockMs = 1_764_000_000_000
    const { api, object } = await provider.start({ readKeys: [KEY], now: () => clockMs, ...options })
    open.push(api)
    const call = (path: string, init: RequestInit = {}) =>
      fetch(`${api.url}${path}`, { headers: { authorization: provider.authorization }, ...init })
    const codeOf = async (response: Response) => provider.codeIn((await response.json()) as object)
    return { api, object, call, codeOf, pass: (ms: number) => (clockMs += ms) }
  }

  test('accepts as many calls as the limit allows, and more after its period', async () => {
    const { api, call, codeOf, pass } = await setUp({ rateLimits: [{ calls: 2, perMs: 10_000, of: 'account' }] })
    const statuses = []
    for (let count = 0; count < 3; count++) statuses.push((await call(provider.list)).status)
    expect(statuses).toEqual([200, 200, 429])
    expect(await codeOf(await call(provider.list))).toBe(provider.codes.rateLimited)
    pass(10_000)
    expect((await call(provider.list)).status).toBe(200)
    api.limitRate([])
    expect((await call(provider.list)).status).toBe(200)
  })

  test('counts each endpoint separately if the limit says so', async () => {
    const { object, call } = await setUp({ rateLimits: [{ calls: 1, perMs: 10_000, of: 'endpoint' }] })
    expect((await call(provider.list)).status).toBe(200)
    expect((await call(object)).status).toBe(200)
    expect((await call(`${object}-another`)).status).toBe(429)
  })

  test.each<{ name: string; trouble: Trouble; status: number; code: keyof Provider['codes'] }>([
    {
      name: 'a limit that another caller has used up',
      trouble: { kind: 'error', status: 429, retryAfterS: 7, times: 1 },
      status: 429,
      code: 'rateLimited',
    },
    { name: 'a failure', trouble: { kind: 'error', status: 503, times: 1 }, status: 503, code: 'failing' },
    { name: 'an object that is not visible yet', trouble: { kind: 'missing', times: 1 }, status: 404, code: 'missing' },
  ])('shows $name once, in its own words', async ({ trouble, status, code }) => {
    const { api, object, call, codeOf } = await setUp()
    api.setTrouble(trouble)
    const response = await call(object)
    expect(response.status).toBe(status)
    expect(response.headers.get('retry-after')).toBe('retryAfterS' in trouble ? '7' : null)
    expect(await codeOf(response)).toBe(provider.codes[code])
    expect((await call(object)).status).toBe(200)
  })

  test('shows trouble only on the requested path', async () => {
    const { api, object, call } = await setUp()
    api.setTrouble({ kind: 'error', status: 500, times: 1, path: new RegExp(`^${provider.list}$`) })
    expect((await call(object)).status).toBe(200)
    expect((await call(provider.list)).status).toBe(500)
    expect((await call(provider.list)).status).toBe(200)
  })

  test('can answer with a page of a gateway, cut the connection, stay silent, or be slow', async () => {
    const { api, object, call } = await setUp()
    api.setTrouble({ kind: 'html', status: 502, times: 1 })
    expect(await (await call(object)).text()).toMatch(/^<html>/)
    api.setTrouble({ kind: 'cut', times: 1 })
    await expect(call(object)).rejects.toThrow(/fetch failed/)
    api.setTrouble({ kind: 'silence', times: 1 })
    await expect(call(object, { signal: AbortSignal.timeout(30) })).rejects.toThrow(/timeout/)
    api.setTrouble({ kind: 'slow', afterMs: 30, times: 1 })
    expect((await call(object)).status).toBe(200)
    expect(api.calls()).toHaveLength(4)
  })

  test('finds an object only after the lag of its reads', async () => {
    const { object, call, codeOf, pass } = await setUp({ readLagMs: 1_000 })
    expect(await codeOf(await call(object))).toBe(provider.codes.missing)
    pass(1_000)
    expect((await call(object)).status).toBe(200)
  })

  test('refuses changes with a read-only key', async () => {
    const { object, call } = await setUp()
    expect((await call(object, { method: 'POST' })).status).toBe(403)
  })
})
