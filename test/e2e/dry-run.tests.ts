/**
 * Three projects are connected to one account, each with another `out_of_band`. The dry run of each project with the setting of another
 * one must name exactly the refunds about which that other project really alerted.
 */
import { type Action, OutOfBand, type SettingDryRun } from '@backstop/contracts'
import { until } from '@backstop/kit/test'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Connected, connectAgain, connectProcessor } from '../setup/accounts.ts'
import { type Customer, isOpened, openCustomer, refOf } from '../setup/customer.ts'
import { quickProduct } from './shared-products.ts'

const VERDICTS_MS = 60_000

interface Tenant {
  readonly customer: Customer
  readonly cards: Connected<'processor'>
}

describe('the dry run of a setting', () => {
  const stops: (() => Promise<void>)[] = []
  const tenants = new Map<OutOfBand, Tenant>()
  const refunds = { early: '', explained: '', unexplained: '', explainedLate: '' }

  beforeAll(async () => {
    const product = quickProduct.get()
    let first: Connected<'processor'> | undefined
    for (const outOfBand of OutOfBand.options) {
      const customer = await openCustomer(product)
      const cards: Connected<'processor'> =
        first === undefined
          ? await connectProcessor(customer, { outOfBand })
          : await connectAgain(customer, first, { outOfBand })
      first ??= cards
      stops.push(customer.stop, cards.stop)
      tenants.set(outOfBand, { customer, cards })
    }
    const { account } = first as Connected<'processor'>
    const refund = (amount: number) => {
      const { paymentIntent } = account.createPayment({ amount: 5_000, currency: 'eur' })
      return { subject: paymentIntent.id, id: account.refund({ payment_intent: paymentIntent.id, amount }).id, amount }
    }
    // Nothing was executed on the account yet, so `auto` does not alert.
    const early = refund(100)
    await untilJudged(early.id, ({ verdict }) => verdict !== 'pending')
    const explained = refund(200)
    await reportToAll(explained)
    await untilJudged(explained.id, ({ verdict }) => verdict === 'explained')
    const unexplained = refund(300)
    const explainedLate = refund(400)
    for (const { id } of [unexplained, explainedLate]) await untilJudged(id, ({ verdict }) => verdict !== 'pending')
    await reportToAll(explainedLate)
    await untilJudged(explainedLate.id, ({ verdict }) => verdict === 'explained')
    Object.assign(refunds, {
      early: early.id,
      explained: explained.id,
      unexplained: unexplained.id,
      explainedLate: explainedLate.id,
    })
  })
  afterAll(async () => {
    for (const stop of stops.reverse()) await stop()
  })

  async function reportToAll({ id, subject, amount }: { id: string; subject: string; amount: number }) {
    for (const { cards } of tenants.values()) {
      await cards.report({ subject, provider_ref: id, amount, currency: 'eur', state: 'completed' })
    }
  }

  async function untilJudged(id: string, isJudged: (action: Action) => boolean) {
    for (const [mode, { customer }] of tenants) {
      await until(
        `the verdict of ${id} under ${mode}`,
        async () => {
          const action = await customer.action(id)
          return action !== undefined && isJudged(action)
        },
        { timeoutMs: VERDICTS_MS, everyMs: 200 },
      )
    }
  }

  async function untilAlerted(mode: OutOfBand, ids: ReadonlySet<string>) {
    const { customer } = tenantOf(mode)
    const alerted = () => new Set(customer.receiver.deliveries().filter(isOpened).map(refOf))
    await until(`the alerts under ${mode}`, () => alerted().size >= ids.size, { timeoutMs: VERDICTS_MS, seen: alerted })
    expect(alerted()).toEqual(ids)
  }

  function tenantOf(mode: OutOfBand): Tenant {
    const tenant = tenants.get(mode)
    if (tenant === undefined) throw new Error(`Nobody has the setting ${mode}`)
    return tenant
  }

  test('names the refunds about which a project with that setting really alerts', async () => {
    const alerted = {
      alert: new Set([refunds.early, refunds.unexplained, refunds.explainedLate]),
      auto: new Set([refunds.unexplained, refunds.explainedLate]),
      ignore: new Set<string>(),
    }
    for (const mode of OutOfBand.options) await untilAlerted(mode, alerted[mode])
    for (const stored of OutOfBand.options) {
      const { customer, cards } = tenantOf(stored)
      for (const tried of OutOfBand.options) {
        const path = `/v1/projects/${customer.projectId}/connections/${cards.connection.connection_id}/dry-run`
        const answer = await customer.api.get<SettingDryRun>(`${path}?out_of_band=${tried}`)
        const namesWhere = (field: 'alerted' | 'would_alert') =>
          new Set(answer.actions.filter(action => action[field]).map(({ provider_ref }) => provider_ref))
        expect(namesWhere('alerted'), stored).toEqual(alerted[stored])
        expect(namesWhere('would_alert'), `${tried} in place of ${stored}`).toEqual(alerted[tried])
        expect(answer).toMatchObject({ unexplained: 3, is_complete: true, would_alert: { count: alerted[tried].size } })
      }
    }
  })
})
