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
/** Actions without a storm of their own, because they came before the tenth. */
const BEFORE_STORM = 9
/** Longer than two refunds of the storm are apart on a busy machine. */
const QUIET_MS = 15_000
const WITHIN_MS = 110_000
const MAILBOX = `storm-${Date.now().toString(36)}@example.com`

const stops: (() => Promise<void>)[] = []
let product: Product
let inspector: ProductInspector
let shop: Shop
let slack: Awaited<ReturnType<typeof startReceiver>>

beforeAll(async () => {
  const serviceEnv = { notifier: { STORM_QUIET_MS: String(QUIET_MS), PUBLIC_URL: 'https://backstop.example.com' } }
  product = await openProduct('storm', { recheckDelayMs: 1_500, serviceEnv })
  stops.push(() => product.stop())
  inspector = await openInspector(product)
  shop = await openShop(product, { livemode: true })
  slack = await startReceiver()
  stops.push(inspector.stop, shop.stop, slack.stop)
  for (const config of [
    { kind: 'slack', webhook_url: `${slack.url}/hook` },
    { kind: 'email', to: [MAILBOX] },
  ]) {
    const channel = { project_id: shop.projectId, name: config.kind, events: ['incident.opened'], config }
    await shop.api.post<AlertChannel>('/v1/alert-channels', channel)
  }
})

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

async function mails(): Promise<Mail[]> {
  const all = (await (await fetch(`${product.urls.mail}/api/email`)).json()) as Mail[]
  return all.filter(({ to }) => to.some(({ address }) => address === MAILBOX))
}

const isReport = (text: string) => /\d+ unexplained refunds on /.test(text)
const isLast = (text: string) => text.includes('Ended: ')

/** The count and the money of a report, as a person reads them: `EUR 19,161.60 (384 actions)`. */
function readReport(text: string) {
  const count = Number(/Ended: (\d+) unexplained refunds/.exec(text)?.[1])
  const money = [...text.matchAll(/([A-Z]{3}) ([\d,]+\.\d\d) \((\d+) actions\)/g)].map(
    ([, currency = '', amount = '', actions]) => ({
      currency: currency.toLowerCase(),
      amount: Math.round(Number(amount.replaceAll(',', '')) * 100),
      actions: Number(actions),
    }),
  )
  return { count, money }
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
        { $project: { _id: 0, currency: '$_id', amount: 1, actions: 1 } },
      ])
      .toArray(),
  ])
  return { count, money }
}

test('400 unexplained refunds within seconds are each one webhook, and at most twenty messages for people', async () => {
  const begin = performance.now()
  const seconds = () => Math.round((performance.now() - begin) / 100) / 10
  const refs = await makeRefunds()
  const posted = seconds()

  let last: { slack?: string | undefined; mail?: Mail | undefined } = {}
  const areLastReportsHere = async () => {
    last = {
      slack: slack.requests.map(({ body }) => body.toString()).find(isLast),
      mail: (await mails()).find(({ subject }) => isLast(subject)),
    }
    return last.slack !== undefined && last.mail !== undefined
  }
  const seen = () => ({ slack: slack.requests.length, hook: shop.receiver.deliveries().length })
  await until('the last report in Slack and as mail', areLastReportsHere, {
    timeoutMs: WITHIN_MS,
    everyMs: 500,
    seen,
  })

  const opened = shop.receiver.deliveries().filter(isOpened)
  expect(opened.map(refOf).sort()).toEqual(refs.toSorted())
  expect(opened.map(refOf)).toHaveLength(REFUNDS)
  const mailed = await mails()
  const messages = { slack: slack.requests.length, mail: mailed.length }
  process.stdout.write(`storm: ${JSON.stringify({ posted_s: posted, last_report_s: seconds(), messages })}\n`)
  expect(messages.slack).toBeLessThanOrEqual(MOST_MESSAGES)
  expect(messages.mail).toBeLessThanOrEqual(MOST_MESSAGES)

  const expected = await expectedReport()
  expect(expected).toMatchObject({ count: REFUNDS, money: [{ currency: 'eur' }, { currency: 'usd' }] })
  expect(readReport(String(last.slack))).toEqual(expected)
  expect(readReport(String(last.mail?.text))).toEqual(expected)

  const incidents = await shop.incidents()
  const actions = await shop.actions()
  expect(incidents.map(({ action_id }) => action_id).sort()).toEqual(actions.map(({ action_id }) => action_id).sort())
  expect(incidents.every(({ state, code }) => state === 'open' && code === 'UNEXPECTED_ACTION')).toBe(true)

  const stormIds = opened.map(delivery => incidentOf(delivery)?.storm_id ?? null)
  expect(stormIds.filter(id => id === null)).toHaveLength(BEFORE_STORM)
  const [stormId, ...others] = new Set(stormIds.filter(id => id !== null))
  expect(others).toEqual([])
  // The list of incidents also shows the first nine as members.
  expect(new Set(incidents.map(({ storm_id }) => storm_id))).toEqual(new Set([stormId]))

  const counts = { ...messages, webhook: opened.length }
  keepMessages({
    'slack-first.json': slack.requests.map(({ body }) => body.toString()).find(isReport) ?? '',
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
}, 120_000)
