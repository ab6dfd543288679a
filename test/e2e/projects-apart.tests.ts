/**
 * Two projects are connected to the same accounts, so both get events with the same ids. When the first project has its verdicts,
 * the second project gets its events and reports operations and expected changes with the same ids. The records of the first
 * project must not change, and each project must have its own action with its own verdict.
 */
import type { Action, ChannelHealthDocument, Verdict } from '@backstop/contracts'
import { until } from '@backstop/kit/test'
import type { Payment } from '@backstop/simulator'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectAgain, connectBiller, connectProcessor, connectReseller } from '../setup/accounts.ts'
import { type Customer, openCustomer } from '../setup/customer.ts'
import { nameByAmount } from '../setup/planned-changes/change-kind.ts'
import { nameOf } from '../setup/planned-changes/planned-change.ts'
import { openInspector, type ProductInspector } from '../setup/product-inspector.ts'
import { quickProduct } from './shared-products.ts'

/** The deadline of every wait. It is long enough for a busy machine. */
const WITHIN_MS = 60_000

describe('projects with the same accounts', () => {
  const stops: (() => Promise<void>)[] = []
  let ours: Customer
  let theirs: Customer
  let inspector: ProductInspector
  let accounts: Awaited<ReturnType<typeof connectAll>>
  let ourRecords: { before: unknown; after: unknown }
  const names = new Map<string, string>()

  /** Connects both projects to four accounts. Our project gets events at once, their project when the test releases the events. */
  async function connectAll() {
    const cards = await connectProcessor(ours)
    const oldCards = await connectProcessor(ours, { sendsRefundEvents: false })
    const reseller = await connectReseller(ours)
    const biller = await connectBiller(ours)
    const again = {
      cards: await connectAgain(theirs, cards),
      oldCards: await connectAgain(theirs, oldCards),
      reseller: await connectAgain(theirs, reseller),
      biller: await connectAgain(theirs, biller, { isReadable: true }),
    }
    const all = { ours: { cards, oldCards, reseller, biller }, theirs: again }
    for (const connected of [...Object.values(all.ours), ...Object.values(all.theirs)])
      stops.push(() => connected.stop())
    for (const connected of Object.values(again)) connected.endpoint.hold()
    // After the first sweep of both billers, the next sweep is five minutes later and does not disturb the test.
    const connections = [biller, again.biller].map(({ connection }) => connection.connection_id)
    const sweeps = inspector.database.collection<{ _id: string }>('sweeps')
    const swept = () => sweeps.countDocuments({ _id: { $in: connections }, last_run_at: { $ne: null } })
    await until('the first sweeps', async () => (await swept()) === 2, { timeoutMs: WITHIN_MS, everyMs: 100 })
    return all
  }

  type Ours = (typeof accounts)['ours']
  type Reporters = Ours | (typeof accounts)['theirs']

  /** A change that was made at the provider. */
  interface MadeChange {
    /** The name of the change in alerts and actions. */
    readonly name: string
    /** Reports the change to the product, as an operation or an expected change of the reporting project. */
    report(reporters: Reporters): Promise<unknown>
  }

  interface Row {
    /** The id that both projects get from the provider, in words. */
    readonly shared: string
    /** The project that reports the change. */
    readonly reportedBy: 'ours' | 'theirs'
    readonly verdicts: { readonly ours: Verdict; readonly theirs: Verdict }
    make(accounts: Ours): MadeChange
  }

  const explainedForUs = { reportedBy: 'ours', verdicts: { ours: 'explained', theirs: 'unexplained' } } as const
  const explainedForThem = { reportedBy: 'theirs', verdicts: { ours: 'unexplained', theirs: 'explained' } } as const

  const pay = (account: { createPayment(request: object): Payment }) =>
    account.createPayment({ amount: 5_000, currency: 'eur' })
  const done = { state: 'completed' }
  const money = { amount: 5_000, currency: 'eur' }

  const ROWS: readonly Row[] = [
    {
      ...explainedForUs,
      shared: "the processor's refund",
      make({ cards: { account } }) {
        const subject = pay(account).paymentIntent.id
        const { id } = account.refund({ payment_intent: subject })
        return { name: id, report: ({ cards }) => cards.report({ subject, provider_ref: id, ...money, ...done }) }
      },
    },
    {
      ...explainedForThem,
      shared: "the processor's payment",
      make({ cards: { account } }) {
        const subject = pay(account).paymentIntent.id
        const { id } = account.refund({ payment_intent: subject })
        return { name: id, report: ({ cards }) => cards.report({ subject, ...money, ...done }) }
      },
    },
    {
      ...explainedForUs,
      shared: 'the idempotency key of a request',
      make({ cards: { account } }) {
        const subject = pay(account).paymentIntent.id
        const key = 'the-same-key'
        const { id } = account.refund({ payment_intent: subject, idempotencyKey: key })
        return { name: id, report: ({ cards }) => cards.report({ subject, idempotency_key: key, state: 'executing' }) }
      },
    },
    {
      ...explainedForThem,
      shared: 'the idempotency key of an operation',
      make({ cards: { account } }) {
        const subject = pay(account).paymentIntent.id
        const { id } = account.refund({ payment_intent: subject })
        // An operation of our project has the same key.
        const key = { idempotency_key: 'the-same-key' }
        return {
          name: id,
          report: ({ cards }) => cards.report({ subject, provider_ref: id, ...key, ...money, ...done }),
        }
      },
    },
    {
      ...explainedForThem,
      shared: "the total of the processor's charge",
      make({ oldCards: { account } }) {
        const subject = pay(account).paymentIntent.id
        account.refund({ payment_intent: subject })
        return {
          name: nameByAmount(subject, money.amount),
          report: ({ oldCards }) => oldCards.report({ subject, ...money, ...done }),
        }
      },
    },
    {
      ...explainedForUs,
      shared: "the processor's subscription",
      make({ cards: { account } }) {
        const { id } = account.subscribe(money).subscription
        account.scheduleCancel(id)
        return { name: id, report: ({ cards }) => cards.report({ kind: 'cancellation', subject: id, ...done }) }
      },
    },
    {
      ...explainedForThem,
      shared: "the reseller's adjustment",
      make({ reseller: { account } }) {
        const { id: subject } = account.sell({ amount: 5_000 })
        const { id } = account.refund({ transactionId: subject, review: 'automatic' })
        return { name: id, report: ({ reseller }) => reseller.report({ subject, provider_ref: id, ...done }) }
      },
    },
    {
      ...explainedForUs,
      shared: "the reseller's subscription",
      make({ reseller: { account } }) {
        const { id } = account.subscribe({ amount: 5_000 }).subscription
        account.cancel(id)
        return { name: id, report: ({ reseller }) => reseller.report({ kind: 'cancellation', subject: id, ...done }) }
      },
    },
    {
      ...explainedForThem,
      shared: "the biller's transaction",
      make({ biller: { account } }) {
        const { invoice, subscription } = account.subscribe(money)
        const { id } = account.refundInvoice(invoice.id).refund
        const names = { subject: subscription.id, provider_ref: id }
        return { name: id, report: ({ biller }) => biller.report({ ...names, ...money, ...done }) }
      },
    },
    {
      shared: "the biller's credit note",
      reportedBy: 'theirs',
      verdicts: { ours: 'not_alerted', theirs: 'not_alerted' },
      make({ biller: { account } }) {
        const { invoice } = account.bill(money)
        return { name: account.issueCreditNote(invoice.id).id, report: async () => {} }
      },
    },
    {
      ...explainedForUs,
      shared: "the biller's subscription",
      make({ biller: { account } }) {
        const { id } = account.subscribe(money).subscription
        account.cancel(id)
        return { name: id, report: ({ biller }) => biller.report({ kind: 'cancellation', subject: id, ...done }) }
      },
    },
    {
      ...explainedForThem,
      shared: 'the refund of an expected change',
      make({ cards: { account } }) {
        const subject = pay(account).paymentIntent.id
        const { id } = account.refund({ payment_intent: subject })
        const change = { project_id: theirs.projectId, kind: 'refund', subject, note: 'By hand' }
        return { name: id, report: () => theirs.api.post('/v1/expected-changes', change) }
      },
    },
  ]

  beforeAll(async () => {
    const product = quickProduct.get()
    inspector = await openInspector(product)
    ours = await openCustomer(product)
    theirs = await openCustomer(product)
    stops.push(inspector.stop, ours.stop, theirs.stop)
    accounts = await connectAll()
    const made = ROWS.map(row => ({ row, ...row.make(accounts.ours) }))
    for (const { row, name } of made) names.set(row.shared, name)
    const report = (who: Row['reportedBy']) =>
      Promise.all(made.filter(({ row }) => row.reportedBy === who).map(change => change.report(accounts[who])))

    await report('ours')
    await untilAllJudged(ours)
    const before = await recordsOf(ours)
    await report('theirs')
    await Promise.all(Object.values(accounts.theirs).map(({ endpoint }) => endpoint.release()))
    await untilAllJudged(theirs)
    ourRecords = { before, after: await recordsOf(ours) }
  })

  afterAll(async () => {
    for (const stop of stops.reverse()) await stop()
  })

  /** Waits until every change has a verdict, and all deliveries and actions are counted. */
  async function untilAllJudged(customer: Customer): Promise<void> {
    const areJudged = async () => {
      const actions = await customer.actions()
      return ROWS.every(({ shared }) =>
        actions.some(action => isActionOf(action, shared) && action.verdict !== 'pending'),
      )
    }
    await until('a verdict on every change', areJudged, { timeoutMs: WITHIN_MS, everyMs: 100 })
    await inspector.untilIdle(WITHIN_MS)
    await until('the channel health to count all deliveries', () => isHealthCurrent(customer), {
      timeoutMs: WITHIN_MS,
      everyMs: 100,
    })
    await until('the totals of the day to count all actions', () => areTotalsCurrent(customer), {
      timeoutMs: WITHIN_MS,
      everyMs: 100,
    })
  }

  /** True if no day of the project waits to be counted again. */
  async function areTotalsCurrent({ projectId: project_id }: Customer): Promise<boolean> {
    const waiting = { project_id, count_at: { $exists: true } }
    return (await inspector.database.collection('daily_totals').countDocuments(waiting)) === 0
  }

  /** True if the health of the channels, which is written once a second, counts every delivery. */
  async function isHealthCurrent({ projectId: project_id }: Customer): Promise<boolean> {
    const { database } = inspector
    const channels = await database.collection<ChannelHealthDocument>('channel_health').find({ project_id }).toArray()
    const days = channels.flatMap(channel => Object.values(channel.days ?? {}))
    const delivered = await database.collection('deliveries').countDocuments({ project_id, state: 'delivered' })
    return days.reduce((sum, day) => sum + day.delivered, 0) === delivered
  }

  /** True if the action belongs to the change of this row. */
  function isActionOf(action: Action, shared: string): boolean {
    const name = names.get(shared)
    return nameOf(action) === name || nameByAmount(action.subject, action.amount) === name
  }

  /** All documents of a project by collection, except those that a timer writes: sweeps, and waits of late reports. */
  async function recordsOf({ projectId }: Customer): Promise<Record<string, unknown[]>> {
    const records: Record<string, unknown[]> = {}
    for (const { collectionName } of await inspector.database.collections()) {
      if (collectionName === 'sweeps' || collectionName === 'bursts') continue
      const found = await inspector.database
        .collection(collectionName)
        .find({ project_id: projectId })
        .sort({ _id: 1 })
        .toArray()
      if (found.length > 0) records[collectionName] = found
    }
    return records
  }

  test.each(ROWS)('two projects that share $shared have an action and a verdict each', async ({ shared, verdicts }) => {
    const [our = [], their = []] = [await ours.actions(), await theirs.actions()].map(actions =>
      actions.filter(action => isActionOf(action, shared)),
    )
    expect(our).toMatchObject([{ project_id: ours.projectId, verdict: verdicts.ours }])
    expect(their).toMatchObject([{ project_id: theirs.projectId, verdict: verdicts.theirs }])
    expect(our[0]?.action_id).not.toBe(their[0]?.action_id)
  })

  test('nothing stored about one project changed when the other one got the same events', () => {
    expect(Object.keys(ourRecords.before as object)).toEqual(
      expect.arrayContaining(['subjects', 'actions', 'incidents', 'inbox', 'operations', 'deliveries']),
    )
    expect(ourRecords.after).toEqual(ourRecords.before)
  })

  test('nothing stored about one project contains an id of the other', async () => {
    const stored = [JSON.stringify(await recordsOf(ours)), JSON.stringify(await recordsOf(theirs))]
    const idsOf = (who: 'ours' | 'theirs', customer: Customer) => [
      customer.projectId,
      ...Object.values(accounts[who]).map(({ connection }) => connection.connection_id),
    ]
    expect(idsOf('theirs', theirs).filter(id => stored[0]?.includes(id))).toEqual([])
    expect(idsOf('ours', ours).filter(id => stored[1]?.includes(id))).toEqual([])
  })
})
