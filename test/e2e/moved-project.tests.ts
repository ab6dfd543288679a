/**
 * A project moves from one installation to another by the steps of docs/cells.md. At each step, a refund that was reported to
 * neither installation must alert at least once.
 */
import type { Silence } from '@backstop/contracts'
import { until } from '@backstop/kit/test'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Connected, connectAgain, connectProcessor } from '../setup/accounts.ts'
import { type Customer, openCustomer } from '../setup/customer.ts'
import { openProduct } from '../setup/product.ts'
import { quickProduct, RECHECK_DELAY_MS } from './shared-products.ts'

/** The deadline of every wait. It is long enough for a busy machine. */
const WITHIN_MS = 60_000

interface Cell {
  readonly customer: Customer
  readonly cards: Connected<'processor'>
}
const stops: (() => Promise<void>)[] = []
let old: Cell
let next: Cell

const pay = () => old.cards.account.createPayment({ amount: 5_000, currency: 'eur' }).paymentIntent.id
const refund = (subject: string) => old.cards.account.refund({ payment_intent: subject }).id

async function refundReportedTo({ cards }: Cell): Promise<string> {
  const subject = pay()
  await cards.report({ subject, amount: 5_000, currency: 'eur', state: 'executing' })
  return refund(subject)
}

function silence({ customer, cards }: Cell): Promise<Silence> {
  const connection_id = cards.connection.connection_id
  const body = { project_id: customer.projectId, connection_id, duration_seconds: 3_600, reason: 'The project moves' }
  return customer.api.post('/v1/silences', body)
}

/** Waits for the verdicts of both cells on a refund. */
function verdictsOn(id: string) {
  const verdictIn = async ({ customer }: Cell) =>
    until(
      `a verdict on ${id}`,
      async () => {
        const verdict = (await customer.action(id))?.verdict
        return verdict === 'pending' ? undefined : verdict
      },
      { timeoutMs: WITHIN_MS, everyMs: 200 },
    )
  return Promise.all([verdictIn(old), verdictIn(next)])
}

describe('two installations', () => {
  beforeAll(async () => {
    const newCell = await openProduct('new-cell', { recheckDelayMs: RECHECK_DELAY_MS })
    stops.push(() => newCell.stop())
    const before = await openCustomer(quickProduct.get())
    const after = await openCustomer(newCell)
    const cards = await connectProcessor(before)
    old = { customer: before, cards }
    next = { customer: after, cards: await connectAgain(after, cards) }
    stops.push(before.stop, after.stop, cards.stop, next.cards.stop)
  })

  afterAll(async () => {
    for (const stop of stops.reverse()) await stop()
  })

  test('a project that moves to another installation has an alert about each unexplained refund at each step', async () => {
    const silenceOfNew = await silence(next)

    // During the deployment, operations are reported to either installation.
    const [toOld, toNew, toNeither] = [await refundReportedTo(old), await refundReportedTo(next), refund(pay())]
    expect(await verdictsOn(toOld)).toEqual(['explained', 'unexplained'])
    expect(await verdictsOn(toNew)).toEqual(['unexplained', 'explained'])
    // An alert of the old installation is real if the new one calls the refund unexplained too.
    expect(await verdictsOn(toNeither)).toEqual(['unexplained', 'unexplained'])
    await old.customer.alertAbout(toNeither, WITHIN_MS)

    await next.customer.api.delete(`/v1/silences/${silenceOfNew.silence_id}`)
    const betweenBoth = refund(pay())
    await Promise.all([old, next].map(({ customer }) => customer.alertAbout(betweenBoth, WITHIN_MS)))

    await silence(old)
    await old.cards.endpoint.stop()
    const afterwards = refund(pay())
    await next.customer.alertAbout(afterwards, WITHIN_MS)
    const own = await refundReportedTo(next)
    const last = refund(pay())
    await next.customer.alertAbout(last, WITHIN_MS)

    const alerted = ({ customer }: Cell) =>
      [toOld, toNew, toNeither, betweenBoth, afterwards, own, last].filter(id => customer.alertsAbout(id).length > 0)
    expect(alerted(old)).toEqual([toNew, toNeither, betweenBoth])
    expect(alerted(next)).toEqual([betweenBoth, afterwards, last])
  })
})
