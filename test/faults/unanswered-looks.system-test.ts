/**
 * The provider does not answer at the second looks at signed refunds. With two reconcilers each refund must alert once and in
 * time, and its incident must resolve when the provider later answers that the refund does not exist.
 */
import { until } from '@backstop/kit/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Product } from '../../scripts/start/product.ts'
import { connectProcessor } from '../setup/accounts.ts'
import { actionOf, eventOf, isOpened, openCustomer, refOf } from '../setup/customer.ts'
import { openProduct } from '../setup/product.ts'

const RECHECK_DELAY_MS = 3_000
/**
 * The longest delay of an alert on a busy machine. An alert that waited for the provider would arrive after two minutes. The
 * promised five seconds are tested in memory (services/reconciler/test/unanswered-looks.test.ts).
 */
const ALERTS_WITHIN_MS = 20_000
/** More refunds than may wait for the read of one connection at the same time. */
const REFUNDS_WITHOUT_ANSWER = 100
const HOUR_S = 3_600
const ALWAYS = 1_000_000
const stops: (() => Promise<void>)[] = []
let product: Product
beforeAll(async () => {
  product = await openProduct('unanswered', { recheckDelayMs: RECHECK_DELAY_MS })
  stops.push(() => product.stop())
  await product.addInstance('reconciler', 'reconciler-2')
})
afterAll(async () => {
  for (const stop of stops.reverse()) await stop()
})

test('a provider that does not answer a second look: alerts once without waiting for the provider, also if the reconciler that asks is killed, and resolves when the provider denies it', async () => {
  const customer = await openCustomer(product)
  stops.push(() => customer.stop())
  const open = async () => {
    const connected = await connectProcessor(customer, { isReadable: true, hasBurstAlarm: false })
    stops.push(() => connected.stop())
    return connected
  }
  const [silent, busy, down, killed] = [await open(), await open(), await open(), await open()]
  for (const { providerApi } of [silent, killed]) providerApi.setTrouble({ kind: 'silence', times: ALWAYS })
  busy.providerApi.setTrouble({ kind: 'error', status: 429, retryAfterS: HOUR_S, times: ALWAYS })
  down.providerApi.setTrouble({ kind: 'error', status: 503, times: ALWAYS })
  const refund = ({ account }: typeof silent) =>
    account.refund({ payment_intent: account.createPayment({ amount: 5_000, currency: 'eur' }).paymentIntent.id }).id
  const opened = () => customer.receiver.deliveries().filter(isOpened)

  const denied = refund(down)
  const confirmed = refund(down)
  const ids = [denied, confirmed, refund(busy)]
  for (let count = 0; count < REFUNDS_WITHOUT_ANSWER; count++) ids.push(refund(silent))
  const areAlerted = (some: readonly string[]) => {
    const alerted = new Set(opened().map(refOf))
    return some.every(id => alerted.has(id))
  }
  await until('an alert for each refund', () => areAlerted(ids), { timeoutMs: 90_000, seen: () => opened().length })
  const lateMs = opened().map(delivery => {
    const { opened_at } = (delivery.body as { data: { incident: { opened_at: string } } }).data.incident
    return Date.parse(opened_at) - Date.parse(actionOf(delivery)?.second_look_at ?? '')
  })
  expect(Math.min(...lateMs)).toBeGreaterThanOrEqual(0)
  expect(Math.max(...lateMs)).toBeLessThanOrEqual(ALERTS_WITHIN_MS)

  // Meanwhile `down` waits for its next question, two minutes after the alert.
  const ofKilled = Array.from({ length: 10 }, () => refund(killed))
  const isAsked = () => killed.providerApi.calls().some(call => ofKilled.some(id => call.includes(id)))
  await until('a question about a refund', isAsked, { timeoutMs: 60_000 })
  product.children.reconciler.kill('SIGKILL')
  await until('an alert for each of these', () => areAlerted(ofKilled), { timeoutMs: 120_000 })
  expect(opened().map(refOf).sort()).toEqual([...ids, ...ofKilled].sort())
  expect(new Set(opened().map(delivery => actionOf(delivery)?.why?.read_back))).toEqual(new Set(['unavailable']))

  // The provider answers again, and has only one of the two refunds.
  down.providerApi.setTrouble({ kind: 'missing', times: ALWAYS, path: new RegExp(denied) })
  const resolved = () => customer.receiver.deliveries().filter(delivery => eventOf(delivery) === 'incident.resolved')
  await until('the denial', async () => (await customer.action(denied))?.reason === 'provider_denies_it', {
    timeoutMs: 120_000,
  })
  await until('the confirmation', async () => (await customer.action(confirmed))?.why?.read_back === 'confirmed', {
    timeoutMs: 60_000,
  })
  await until('the resolution', () => resolved().some(delivery => refOf(delivery) === denied), { timeoutMs: 30_000 })
  expect(resolved().map(refOf)).toEqual([denied])
  expect(await customer.action(confirmed)).toMatchObject({ verdict: 'unexplained' })
})
