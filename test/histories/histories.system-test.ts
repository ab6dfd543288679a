/**
 * Runs more than three hundred histories of the three providers on the running product, each in its own project. The histories are written
 * from the providers' documentation. The second look happens after ten seconds.
 */
import { isDeepStrictEqual } from 'node:util'
import { until } from '@backstop/kit/test'
import { startReceiver } from '@backstop/simulator'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createManagementApi } from '../../scripts/start/management-api.ts'
import { openProduct } from '../setup/product.ts'
import { BILLER } from './biller.ts'
import { startBillerApi } from './biller-api.ts'
import { BILLER_FORMS } from './biller-forms.ts'
import type { History } from './history.ts'
import { type PlayContext, type PlayedHistory, playHistory } from './player.ts'
import { PROCESSOR_PLATFORMS } from './processor-platforms.ts'
import { PROCESSOR_REFUND_FORMS } from './processor-refund-forms.ts'
import { PROCESSOR_REFUNDS, PROCESSOR_TOTALS } from './processor-refunds.ts'
import { PROCESSOR_SUBSCRIPTION_FORMS } from './processor-subscription-forms.ts'
import { PROCESSOR_SCHEDULES, PROCESSOR_SUBSCRIPTIONS } from './processor-subscriptions.ts'
import { RESELLER } from './reseller.ts'
import { RESELLER_FORMS } from './reseller-forms.ts'

const RECHECK_DELAY_MS = 10_000
const SWEEP_EVERY_MS = 10_000
const AT_ONCE = 30
/** The longest time in which a wrong alert could still be sent after the last step. */
const QUIET_MS = RECHECK_DELAY_MS + 10_000

const HISTORIES: Readonly<Record<PlayContext['provider'], readonly History[]>> = {
  processor: [
    ...PROCESSOR_REFUNDS,
    ...PROCESSOR_REFUND_FORMS,
    ...PROCESSOR_PLATFORMS,
    ...PROCESSOR_TOTALS,
    ...PROCESSOR_SUBSCRIPTIONS,
    ...PROCESSOR_SUBSCRIPTION_FORMS,
    ...PROCESSOR_SCHEDULES,
  ],
  reseller: [...RESELLER, ...RESELLER_FORMS],
  subscription: [...BILLER, ...BILLER_FORMS],
}
const stops: (() => Promise<void>)[] = []
const played = new Map<History, PlayedHistory | { readonly failure: unknown }>()

beforeAll(async () => {
  const product = await openProduct('histories', {
    recheckDelayMs: RECHECK_DELAY_MS,
    serviceEnv: { reconciler: { SWEEP_EVERY_MS: String(SWEEP_EVERY_MS) } },
  })
  stops.push(() => product.stop())
  const api = createManagementApi(product.urls.admin, product.key)
  const receiver = await startReceiver({ now: Date.now })
  stops.push(() => receiver.stop())
  const waiting = Object.entries(HISTORIES).flatMap(([provider, list]) =>
    list.map(history => ({ provider: provider as PlayContext['provider'], history })),
  )
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const { provider, history } = next
      const billerApi = provider === 'subscription' ? await startBillerApi() : null
      if (billerApi !== null) stops.push(() => billerApi.stop())
      const outcome = playHistory(history, { provider, api, receiver, billerApi }).catch(failure => ({ failure }))
      played.set(history, await outcome)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  const lastPlayedAt = Date.now()
  await until('the time for wrong alerts to end', () => Date.now() - lastPlayedAt > QUIET_MS, {
    timeoutMs: QUIET_MS + 5_000,
    everyMs: 500,
  })
})

afterAll(async () => {
  for (const stop of stops.reverse()) await stop()
})

for (const [provider, histories] of Object.entries(HISTORIES)) {
  describe(provider, () => {
    // A retry would not help, because each history runs once, before the tests.
    const rows = histories.map(history => [history.name, history] as const)
    test.each(rows)('%s', { retry: 0 }, async (_, history) => {
      const result = played.get(history)
      if (result === undefined || 'failure' in result) throw result?.failure ?? new Error('The history did not run')
      const { name: _name, outOfBand: _setting, play: _play, ...expected } = history
      const shown = async () => {
        const outcome = await result.outcome()
        return Object.fromEntries(Object.entries(outcome).filter(([fact]) => fact in expected))
      }
      const isAsExpected = async () => isDeepStrictEqual(await shown(), expected)
      await until('the outcome of the history', isAsExpected, { timeoutMs: 20_000, everyMs: 500 }).catch(() => {})
      expect(await shown()).toEqual(expected)
    })
  })
}
