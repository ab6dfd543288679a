/**
 * Answers of a provider that arrive after the verdict: the result of a review, another amount, and reads after a read key was
 * added.
 */
import type {
  Connection,
  InboxEntry,
  RefundedTwice,
  SettingDryRun,
  ShownBudget,
  ShownOperation,
} from '@backstop/contracts'
import { until } from '@backstop/kit/test'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Product } from '../../scripts/start/product.ts'
import { connectBiller, connectProcessor, connectReseller } from '../setup/accounts.ts'
import { eventOf, incidentOf, openCustomer } from '../setup/customer.ts'
import { quickProduct } from './shared-products.ts'

/** The deadline of every wait. It is long enough for a busy machine. */
const WITHIN_MS = 60_000

describe('answers that arrive after the verdict', () => {
  let product: Product
  const stops: (() => Promise<void>)[] = []

  beforeAll(async () => {
    product = quickProduct.get()
  })

  afterAll(async () => {
    await Promise.all(stops.map(stop => stop()))
  })

  async function openTestAccounts() {
    const customer = await openCustomer(product, ['incident.opened', 'drift.detected'])
    stops.push(() => customer.stop())
    return customer
  }

  describe.concurrent('a later answer of the provider', () => {
    /** Makes a refund at the reseller that waits for review, with an operation and a budget that has reserved the amount. */
    async function openReview() {
      const customer = await openTestAccounts()
      const reseller = await connectReseller(customer)
      stops.push(() => reseller.stop())
      const { budget_id: budgetId } = await customer.api.post<ShownBudget>('/v1/budgets', {
        project_id: customer.projectId,
        name: 'Refunds',
        currency: 'usd',
        cap: 10_000,
        interval: 'month',
      })
      const sale = reseller.account.sell({ amount: 2_500 })
      const asked = await reseller.report({ subject: sale.id, amount: 2_500, currency: 'usd' })
      await reseller.reportTransition(asked.operation_id, { to: 'executing' })
      const refund = reseller.account.refund({ transactionId: sale.id })
      await reseller.reportTransition(asked.operation_id, { to: 'awaiting_review', provider_ref: refund.id })
      await until('the refund', () => customer.action(refund.id))
      return {
        ...customer,
        account: reseller.account,
        refund,
        operation: () => customer.api.get<ShownOperation>(`/v1/operations/${asked.operation_id}`),
        budget: async () => (await customer.api.get<ShownBudget>(`/v1/budgets/${budgetId}`)).current,
      }
    }

    test('a refund that the review approves completes its operation and is spent', async () => {
      const { account, refund, operation, budget, receiver } = await openReview()
      expect(await budget()).toMatchObject({ used: 0, reserved: 2_500, left: 7_500 })
      account.review(refund.id, 'approved')
      await until('the completed operation', async () => (await operation()).state === 'completed', {
        timeoutMs: WITHIN_MS,
      })
      expect(await budget()).toMatchObject({ used: 2_500, reserved: 0, left: 7_500 })
      expect(receiver.deliveries()).toEqual([])
    })

    test('a refund that the review rejects opens an incident, alerts, and releases its budget', async () => {
      const { account, refund, operation, budget, alertAbout, alertsAbout, incidents } = await openReview()
      account.review(refund.id, 'rejected')
      const alert = await alertAbout(refund.id, WITHIN_MS)
      expect(incidentOf(alert)).toMatchObject({ code: 'REFUND_REJECTED', state: 'open' })
      await until('the rejected operation', async () => (await operation()).state === 'rejected', {
        timeoutMs: WITHIN_MS,
      })
      expect(await budget()).toMatchObject({ used: 0, reserved: 0, left: 10_000 })
      expect(await incidents()).toMatchObject([{ code: 'REFUND_REJECTED' }])
      expect(alertsAbout(refund.id)).toHaveLength(1)
    })

    test('a refund that software makes again alerts once, and the dry run of the rule names it', async () => {
      const customer = await openTestAccounts()
      const cards = await connectProcessor(customer)
      stops.push(() => cards.stop())
      const path = `/v1/projects/${customer.projectId}/connections/${cards.connection.connection_id}`
      await customer.api.patch(path, { refunded_twice_within_hours: 1 })
      const subject = cards.account.createPayment({ amount: 5_000, currency: 'eur' }).paymentIntent.id
      const refundAgain = async (amount: number) => {
        const { id } = cards.account.refund({ payment_intent: subject, amount })
        const { operation_id } = await cards.report({
          ...{ subject, amount, currency: 'eur', state: 'completed', provider_ref: id },
        })
        return { id, operation_id }
      }
      const first = await refundAgain(900)
      const second = await refundAgain(900)
      const alert = await until(
        'the alert about either refund',
        () => [first, second].flatMap(({ id }) => customer.alertsAbout(id))[0],
        { timeoutMs: WITHIN_MS },
      )
      expect(incidentOf(alert)).toMatchObject({ code: 'REFUNDED_TWICE', state: 'open' })
      const { refunded_twice } = incidentOf(alert) as { refunded_twice: RefundedTwice }
      const named = [refunded_twice.operation_id, refunded_twice.earlier.operation_id].toSorted()
      expect(named).toEqual([first.operation_id, second.operation_id].toSorted())
      // A refund of another amount follows on the same partition, so no further alert is on its way.
      const other = await refundAgain(700)
      await until('the other refund', async () => (await customer.action(other.id))?.verdict === 'explained', {
        timeoutMs: WITHIN_MS,
      })
      expect(await customer.incidents()).toMatchObject([{ code: 'REFUNDED_TWICE' }])
      expect((await customer.api.get<SettingDryRun>(`${path}/dry-run`)).refunded_twice).toMatchObject({
        within_hours: 1,
        would_alert: { count: 1 },
        refunds: [refunded_twice],
      })
    })

    test('an amount that differs from the operation is drift, and alerts once with both amounts', async () => {
      const customer = await openTestAccounts()
      const cards = await connectProcessor(customer)
      stops.push(() => cards.stop())
      const payment = cards.account.createPayment({ amount: 5_000, currency: 'eur' })
      const subject = payment.paymentIntent.id
      const refund = cards.account.refund({ payment_intent: subject, amount: 900 })
      const said = { subject, amount: 1_000, currency: 'eur', state: 'completed', provider_ref: refund.id }
      const operation = await cards.report(said)
      const alert = await until('the drift', () => customer.alertsAbout(refund.id)[0], { timeoutMs: WITHIN_MS })
      expect(eventOf(alert)).toBe('drift.detected')
      expect(alert.body).toMatchObject({
        data: {
          operation: { operation_id: operation.operation_id, amount: 1_000 },
          action: { provider_ref: refund.id, amount: 900, verdict: 'explained', reason: 'provider_ref_matches' },
          differences: [{ field: 'amount', operation_says: 'EUR 10.00', provider_says: 'EUR 9.00' }],
        },
      })
      // When a later drift on the same payment has alerted, a second alert about the first drift would have arrived too.
      const later = cards.account.refund({ payment_intent: subject, amount: 70 })
      cards.account.updateRefund(refund.id, { seen_by: 'accounting' })
      await customer.alertAbout(later.id, WITHIN_MS)
      expect(customer.alertsAbout(refund.id)).toHaveLength(1)
    })
  })

  test('a biller that cannot be read keeps its hints with the reason, and they are judged once it can be read', async () => {
    const customer = await openTestAccounts()
    const biller = await connectBiller(customer, { isReadable: false, disturbance: { falseValuesRate: 1 } })
    stops.push(() => biller.stop())
    const { connection_id: connectionId } = biller.connection
    const path = `/v1/projects/${customer.projectId}/connections/${connectionId}`
    const { subscription, invoice } = biller.account.subscribe({ amount: 2_500 })
    const { refund } = biller.account.refundInvoice(invoice.id)
    biller.account.scheduleCancel(subscription.id)
    const inbox = async () =>
      (await customer.api.get<{ data: InboxEntry[] }>(`/v1/inbox?connection_id=${connectionId}`)).data
    const outcomes = async () => (await inbox()).map(({ event_type, outcome }) => `${event_type} ${outcome}`).sort()
    await until('what came to be held', async () => (await inbox()).length === 3, { timeoutMs: WITHIN_MS })
    expect(await outcomes()).toEqual([
      'credit_note_created held',
      'payment_refunded held',
      'subscription_cancellation_scheduled held',
    ])
    expect((await inbox())[0]?.reason).toMatch(/no read key/)
    expect(await customer.api.get<Connection>(path)).toMatchObject({ status: 'needs_setup', has_read_key: false })
    expect(await customer.actions()).toEqual([])

    expect(await customer.api.patch<Connection>(path, biller.readAccess)).toMatchObject({
      status: 'active',
      site: 'shop',
    })
    await customer.alertAbout(refund.id, WITHIN_MS)
    await customer.alertAbout(subscription.id, WITHIN_MS)
    expect(await customer.action(refund.id)).toMatchObject({
      kind: 'refund',
      amount: 2_500,
      subject: subscription.id,
      verdict: 'unexplained',
      why: { read_back: 'confirmed' },
    })
    expect(await customer.action(subscription.id)).toMatchObject({ kind: 'cancellation', state: 'scheduled' })
    expect(await outcomes()).toEqual([
      'credit_note_created hinted',
      'payment_refunded hinted',
      'subscription_cancellation_scheduled hinted',
    ])
    expect(customer.receiver.deliveries()).toHaveLength(2)
  })

  test('a read key that the provider refuses shows at its connection after the second look, not with the next sweep', async () => {
    const customer = await openTestAccounts()
    const cards = await connectProcessor(customer, { isReadable: true })
    stops.push(() => cards.stop())
    const path = `/v1/projects/${customer.projectId}/connections/${cards.connection.connection_id}`
    const reading = async () => (await customer.api.get<Connection>(path)).reading
    await until('the first sweep', async () => (await reading()).state === 'healthy', { timeoutMs: WITHIN_MS })
    cards.providerApi.setTrouble({ kind: 'error', status: 401, times: 1_000 })
    const { paymentIntent } = cards.account.createPayment({ amount: 5_000, currency: 'eur' })
    const refund = cards.account.refund({ payment_intent: paymentIntent.id, amount: 300 })
    const refusedAt = Date.now()
    await customer.alertAbout(refund.id, WITHIN_MS)
    await until('the refusal', async () => (await reading()).state === 'failing', { timeoutMs: 30_000, seen: reading })
    // The next regular sweep is five minutes after the first one.
    expect(Date.now() - refusedAt).toBeLessThan(90_000)
    expect((await reading()).error).toContain('401')
  })
})
