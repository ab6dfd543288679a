/**
 * A leaked key on the whole product: 400 unexplained refunds of the card processor within seconds, and what people and
 * programs get about them.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AlertChannel } from '@backstop/channels'
import type { ActionDocument } from '@backstop/contracts'
import { startReceiver, until } from '@backstop/kit/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Product } from '../../scripts/start/product.ts'
import { incidentOf, isOpened, refOf } from '../setup/customer.ts'
import { openProduct } from '../setup/product.ts'
import { openInspector, type ProductInspector } from '../setup/product-inspector.ts'
import { openShop, type Shop } from '../setup/shop.ts'

const REFUNDS = 400
/** Refunds that are made at the same moment. */
const AT_ONCE = 40
const MOST_MESSAGES = 20
/** The alarm of a burst comes before, also on a busy machine. */
const RECHECK_DELAY_MS = 25_000
/** Longer than two refunds of the storm are apart on a busy machine. */
const QUIET_MS = 15_000
const WITHIN_MS = 110_000
const RUN = Date.now().toString(36)
const mailboxOf = (name: string) => `${name}-${RUN}@example.com`

const stops: (() => Promise<void>)[] = []
let product: Product
let inspector: ProductInspector
let shop: Shop
let receiver: Awaited<ReturnType<typeof startReceiver>>

beforeAll(async () => {
  const serviceEnv = { notifier: { STORM_QUIET_MS: String(QUIET_MS), PUBLIC_URL: 'https://backstop.example.com' } }
  product = await openProduct('storm', { recheckDelayMs: RECHECK_DELAY_MS, serviceEnv })
  stops.push(() => product.stop())
  inspector = await openInspector(product)
  receiver = await startReceiver()
  receiver.answer = ({ path }, response) => void response.writeHead(path.startsWith('/pager') ? 202 : 200).end('ok')
  stops.push(inspector.stop, receiver.stop)
  shop = await openWatchedShop('storm')
})

/** Opens a shop whose people have a Slack, a mail and a PagerDuty channel. */
async function openWatchedShop(name: string): Promise<Shop> {
  const opened = await openShop(product, { livemode: true })
  stops.push(opened.stop)
  for (const config of [
    { kind: 'slack', webhook_url: `${receiver.url}/slack/${name}` },
    { kind: 'email', to: [mailboxOf(name)] },
    { kind: 'pagerduty', routing_key: '0'.repeat(32), events_url: `${receiver.url}/pager/${name}` },
  ]) {
    const events = ['incident.opened', 'incident.resolved']
    const channel = { project_id: opened.projectId, name: config.kind, events, config }
    await opened.api.post<AlertChannel>('/v1/alert-channels', channel)
  }
  return opened
}

const bodiesOf = (path: string): string[] =>
  receiver.requests.filter(request => request.path === path).map(({ body }) => body.toString())
const pagesOf = (name: string): { event_action: string; dedup_key: string }[] =>
  bodiesOf(`/pager/${name}`).map(body => JSON.parse(body))

afterAll(async () => {
  for (const stop of stops.reverse()) await stop()
})

/** Refunds 400 payments in two currencies with different amounts. @returns the provider's ids of the refunds */
async function makeRefunds(): Promise<string[]> {
  const payments = Array.from({ length: REFUNDS }, (_, index) =>
    shop.processor.createPayment({ amount: 1_000 + index, currency: index % 8 === 0 ? 'usd' : 'eur' }),
  )
  await shop.endpoint.idle()
  const refs: string[] = []
  for (let first = 0; first < REFUNDS; first += AT_ONCE) {
    const some = payments.slice(first, first + AT_ONCE)
    refs.push(...some.map(payment => shop.processor.refund({ payment_intent: payment.paymentIntent.id }).id))
    await shop.endpoint.idle()
  }
  return refs
}

interface Mail {
  readonly to: readonly { readonly address: string }[]
  readonly subject: string
  readonly text: string
  readonly html: string
}

/**
 * Keeps messages in the folder BACKSTOP_STORM_MESSAGES, from which `npm run previews -- storm` makes the pictures of docs/storms.md.
 */
function keepMessages(messages: Readonly<Record<string, string>>): void {
  const folder = process.env.BACKSTOP_STORM_MESSAGES
  if (folder === undefined) return
  mkdirSync(folder, { recursive: true })
  for (const [name, message] of Object.entries(messages)) writeFileSync(join(folder, name), message)
}

async function mailsOf(name: string): Promise<Mail[]> {
  const all = (await (await fetch(`${product.urls.mail}/api/email`)).json()) as Mail[]
  return all.filter(({ to }) => to.some(({ address }) => address === mailboxOf(name)))
}

const isAlarm = (text: string) => text.includes('Burst: ')
const isConfirmed = (text: string) => text.includes('Confirmed: ')
const isLast = (text: string) => text.includes('Ended: ')

/** The count and the money of a report, as a person reads them: `Ended: 400 unexplained refunds on "Shop", EUR 19,161.60 and USD 12.00`. */
function readReport(text: string) {
  const [, count, sums = ''] =
    /Ended: (\d+) unexplained refunds on .*?, ([A-Z]{3} [\d,]+\.\d\d[^"\n]*)/.exec(text) ?? []
  const money = [...sums.matchAll(/([A-Z]{3}) ([\d,]+\.\d\d)/g)].map(([, currency = '', amount = '']) => ({
    currency: currency.toLowerCase(),
    amount: Math.round(Number(amount.replaceAll(',', '')) * 100),
  }))
  return { count: Number(count), money }
}

/** What a report must say, computed from the recorded actions. */
async function expectedReport() {
  const actions = inspector.database.collection<ActionDocument>('actions')
  const [count, money] = await Promise.all([
    actions.countDocuments({ connection_id: shop.connection.connection_id }),
    actions
      .aggregate([
        { $match: { connection_id: shop.connection.connection_id } },
        { $group: { _id: '$currency', amount: { $sum: '$amount' }, actions: { $sum: 1 } } },
        { $sort: { actions: -1 } },
        { $project: { _id: 0, currency: '$_id', amount: 1 } },
      ])
      .toArray(),
  ])
  return { count, money }
}

test('a burst of 400 refunds and its storm are each one webhook, and at most twenty messages and one page for people', async () => {
  const begin = performance.now()
  const seconds = () => Math.round((performance.now() - begin) / 100) / 10
  const refs = await makeRefunds()
  const posted = seconds()

  let last: { slack?: string | undefined; mail?: Mail | undefined } = {}
  const areLastReportsHere = async () => {
    last = {
      slack: bodiesOf('/slack/storm').find(isLast),
      mail: (await mailsOf('storm')).find(({ subject }) => isLast(subject)),
    }
    return last.slack !== undefined && last.mail !== undefined
  }
  const seen = () => ({ slack: bodiesOf('/slack/storm').length, hook: shop.receiver.deliveries().length })
  await until('the last report in Slack and as mail', areLastReportsHere, {
    timeoutMs: WITHIN_MS,
    everyMs: 500,
    seen,
  })

  const split = () => partition(shop.receiver.deliveries().filter(isOpened), one => refOf(one) === undefined)
  await until('the webhook about each refund', () => split()[1].length >= REFUNDS, { timeoutMs: WITHIN_MS, seen })
  const [alarms, opened] = split()
  expect(opened.map(refOf).sort()).toEqual(refs.toSorted())
  expect(opened.map(refOf)).toHaveLength(REFUNDS)
  const mailed = await mailsOf('storm')
  const slack = bodiesOf('/slack/storm')
  const messages = { slack: slack.length, mail: mailed.length }
  process.stdout.write(`storm: ${JSON.stringify({ posted_s: posted, last_report_s: seconds(), messages })}\n`)
  expect(messages.slack).toBeLessThanOrEqual(MOST_MESSAGES)
  expect(messages.mail).toBeLessThanOrEqual(MOST_MESSAGES)
  for (const texts of [slack, mailed.map(({ subject }) => subject)]) {
    expect(texts.filter(isAlarm)).toEqual(texts.slice(0, 1))
    expect(texts.filter(isConfirmed)).toEqual(texts.slice(1, 2))
  }

  const expected = await expectedReport()
  expect(expected).toMatchObject({ count: REFUNDS, money: [{ currency: 'eur' }, { currency: 'usd' }] })
  expect(readReport(String(last.slack))).toEqual(expected)
  expect(readReport(String(last.mail?.text))).toEqual(expected)

  const [bursts, incidents] = partition(await shop.incidents(), ({ code }) => code === 'UNEXPLAINED_BURST')
  const actions = await shop.actions()
  expect(incidents.map(({ action_id }) => action_id).sort()).toEqual(actions.map(({ action_id }) => action_id).sort())
  expect(incidents.every(({ state, code }) => state === 'open' && code === 'UNEXPECTED_ACTION')).toBe(true)

  const [stormId, ...others] = new Set([...alarms, ...opened].map(delivery => incidentOf(delivery)?.storm_id))
  expect(others).toEqual([])
  expect(new Set([...bursts, ...incidents].map(({ storm_id }) => storm_id))).toEqual(new Set([stormId]))
  expect(bursts).toMatchObject([{ state: 'resolved', burst: { outcome: 'confirmed' } }])
  expect(new Set(pagesOf('storm').map(({ dedup_key }) => dedup_key))).toEqual(new Set([stormId]))
  expect(pagesOf('storm').every(({ event_action }) => event_action === 'trigger')).toBe(true)

  const counts = { ...messages, webhook: opened.length }
  keepMessages({
    'slack-burst.json': slack.find(isAlarm) ?? '',
    'slack-first.json': slack.find(isConfirmed) ?? '',
    'slack-last.json': last.slack ?? '',
    'email-last.html': last.mail?.html ?? '',
    'webhook.json': JSON.stringify(opened.find(one => incidentOf(one)?.storm_id != null)?.body ?? null),
    'sums.json': JSON.stringify({
      posted_s: posted,
      messages: counts,
      database: expected,
      incidents: incidents.length,
    }),
  })
})

test('a burst that software explains late is one alarm and one message that resolves it and its page', async () => {
  const late = await openWatchedShop('late')
  const refunds = Array.from({ length: 12 }, () => {
    const { paymentIntent } = late.processor.createPayment({ amount: 2_000, currency: 'eur' })
    return { subject: paymentIntent.id, provider_ref: late.processor.refund({ payment_intent: paymentIntent.id }).id }
  })
  await until('the alarm in Slack', () => bodiesOf('/slack/late').some(isAlarm), { timeoutMs: 30_000, everyMs: 50 })
  await Promise.all(
    refunds.map(refund => late.report({ ...refund, amount: 2_000, currency: 'eur', state: 'completed' })),
  )
  const isResolved = (text: string) => text.includes('Resolved: the burst of 12 refunds')
  await until(
    'both messages everywhere',
    async () =>
      bodiesOf('/slack/late').some(isResolved) &&
      (await mailsOf('late')).some(({ subject }) => isResolved(subject)) &&
      pagesOf('late').some(({ event_action }) => event_action === 'resolve'),
    { timeoutMs: 60_000, everyMs: 200, seen: () => ({ slack: bodiesOf('/slack/late'), pages: pagesOf('late') }) },
  )
  expect(bodiesOf('/slack/late')).toHaveLength(2)
  expect(await mailsOf('late')).toHaveLength(2)
  const [trigger, resolve, ...more] = pagesOf('late')
  expect([trigger?.event_action, resolve?.event_action, more]).toEqual(['trigger', 'resolve', []])
  expect(resolve?.dedup_key).toBe(trigger?.dedup_key)
  expect(await late.incidents()).toMatchObject([{ state: 'resolved', storm_id: null, burst: { outcome: 'explained' } }])
  expect((await late.api.get<{ data: unknown[] }>(`/v1/storms?project_id=${late.projectId}`)).data).toEqual([])
})

/** The items that fit, and the others. */
function partition<Item>(items: readonly Item[], fits: (item: Item) => boolean): [Item[], Item[]] {
  return [items.filter(fits), items.filter(item => !fits(item))]
}
