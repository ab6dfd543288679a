/**
 * A customer with a unique name and e-mail address at each provider: the canary. It is also in a reason that a person wrote, and the name
 * of a key is an e-mail address. It may be only in the channel that is allowed to show personal data, and in the database until its
 * connection is deleted. The topics of Kafka keep it until their retention ends (docs/architecture.md, "Retention").
 */
import type { AlertChannel } from '@backstop/channels'
import type { PersonErasure } from '@backstop/contracts'
import { startReceiver, until } from '@backstop/kit/test'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Product } from '../../scripts/start/product.ts'
import { SERVICES } from '../../scripts/start/service-environment.ts'
import { type Connected, connectBiller, connectProcessor, connectReseller } from '../setup/accounts.ts'
import { type Customer, openCustomer } from '../setup/customer.ts'
import { openProduct } from '../setup/product.ts'
import { openInspector, type ProductInspector } from '../setup/product-inspector.ts'
import { readDatabase, readLogs } from '../setup/product-traces.ts'

const WITHIN_MS = 60_000
/** Long enough that a busy machine has read whose a change is before its second look. */
const RECHECK_DELAY_MS = 6_000
/** The reconciler looks for deleted connections every minute. */
const ERASED_WITHIN_MS = 100_000
/** Part of each canary's name and address. Nothing else has this text. */
const CANARY = `qzcanary${Date.now().toString(36)}`
/** Part of the name and address of a customer whom people ask to erase. */
const ERASED = `qzerased${Date.now().toString(36)}`
/** Part of the user who makes the changes at the biller: the operator of its dashboard, or the user that a caller of its API states. */
const OPERATOR = `qzoperator${Date.now().toString(36)}`
const NAME = `Canary ${CANARY}`
const EMAIL = `${CANARY}@canary.example`
/** The reason of the reseller's refund, in the words of a person. */
const REASON = `Asked by ${CANARY}`
/** Keys are named by people, also after a mailbox. */
const KEY_NAME = `${OPERATOR}@keys.example`
const MAILBOX = `ops-${CANARY.slice(8)}@example.com`

const stops: (() => Promise<void>)[] = []
let product: Product
let inspector: ProductInspector
let customer: Customer
let connected: Connected<'processor' | 'reseller' | 'subscription'>[]
let permitted: Awaited<ReturnType<typeof startReceiver>>
let slack: Awaited<ReturnType<typeof startReceiver>>
/** The provider's ids of the refunds and of the ended subscriptions. */
let refs: string[]
/** Refunds a part of the payment of the customer who is erased later. */
let refundErased: () => { readonly id: string }

beforeAll(async () => {
  const debug = Object.fromEntries(SERVICES.map(service => [service, { LOG_LEVEL: 'debug' }]))
  product = await openProduct('canary', { recheckDelayMs: RECHECK_DELAY_MS, serviceEnv: debug })
  stops.push(() => product.stop())
  inspector = await openInspector(product)
  customer = await openCustomer(product)
  permitted = await startReceiver()
  slack = await startReceiver()
  stops.push(inspector.stop, customer.stop, permitted.stop, slack.stop)
  const url = `${permitted.url}/alerts`
  await addChannel({ kind: 'webhook', url, secret: 'a secret of the tests' }, { shows_personal_data: true })
  await addChannel({ kind: 'slack', webhook_url: `${slack.url}/hook` })
  await addChannel({ kind: 'email', to: [MAILBOX] })
  refs = await makeChanges()
})

afterAll(async () => {
  for (const stop of stops.reverse()) await stop()
})

const addChannel = (config: object, more: object = {}) =>
  customer.api.post<AlertChannel>('/v1/alert-channels', {
    ...{ project_id: customer.projectId, name: 'Channel', events: ['incident.opened'], config },
    ...more,
  })

/** A refund and an immediate end at each provider, for the canary. */
async function makeChanges(): Promise<string[]> {
  const cards = await connectProcessor(customer, { isReadable: true })
  const reseller = await connectReseller(customer, { isReadable: true })
  const biller = await connectBiller(customer)
  connected = [cards, reseller, biller]
  stops.push(...connected.map(({ stop }) => stop))
  const money = { amount: 2_499, currency: 'eur' }
  const known = cards.account.createPayment(money).customer
  const person = { ...known, name: NAME, email: EMAIL, phone: `+49 ${CANARY}` }
  const payment = cards.account.createPayment({ ...money, customer: person })
  const { customer: other } = cards.account.createPayment(money)
  const leaving = { ...other, name: `Erased ${ERASED}`, email: `${ERASED}@erased.example` }
  const { paymentIntent } = cards.account.createPayment({ ...money, customer: leaving })
  refundErased = () => cards.account.refund({ payment_intent: paymentIntent.id, amount: 100 })
  const ending = cards.account.subscribe({ ...money, customer: person }).subscription
  cards.account.cancel(ending.id)
  const sold = reseller.account.subscribe({
    ...{ amount: 3_499, person: { name: NAME, email: EMAIL } },
    customData: { buyer: NAME, email: EMAIL },
  })
  reseller.account.cancel(sold.subscription.id)
  const by = { source: 'admin_console' as const, user: `${OPERATOR}@shop.example` }
  const buyer = { person: { first_name: 'Canary', last_name: CANARY, email: EMAIL } }
  const bill = biller.account.bill({ amount: 4_499, ...buyer })
  const plan = biller.account.subscribe({ amount: 5_499, ...buyer })
  biller.account.cancel(plan.subscription.id, {
    by: { source: 'api', user: KEY_NAME, originUser: `for ${OPERATOR}` },
  })
  return [
    cards.account.refund({ payment_intent: payment.paymentIntent.id }).id,
    reseller.account.refund({ transactionId: sold.transaction.id, reason: REASON }).id,
    biller.account.refundInvoice(bill.invoice.id, { by }).refund.id,
    ...[ending.id, sold.subscription.id, plan.subscription.id],
  ]
}

const textOf = (requests: readonly { readonly body: Buffer }[]) =>
  requests.map(({ body }) => body.toString()).join('\n')

async function caughtMails(): Promise<string> {
  const all = (await (await fetch(`${product.urls.mail}/api/email`)).json()) as { to: { address: string }[] }[]
  return JSON.stringify(all.filter(({ to }) => to.some(({ address }) => address === MAILBOX)))
}

async function collectionsWith(...wanted: string[]): Promise<string[]> {
  const found = [...(await readDatabase(inspector.database))].filter(([, text]) =>
    wanted.some(one => text.includes(one)),
  )
  return found.map(([name]) => name).sort()
}

/** The answers of the services to wrong requests, some of which contain the canary. */
async function problemDocuments(): Promise<string> {
  const { ingress, admin } = product.urls
  const headers = { authorization: `Bearer ${product.key}`, 'content-type': 'application/json' }
  const [action] = await customer.actions()
  const [first] = connected
  const answers = await Promise.all([
    fetch(`${admin}/v1/actions?limit=0`, { headers }),
    fetch(`${admin}/v1/actions/${action?.action_id}`, { headers: { authorization: 'Bearer wrong' } }),
    fetch(`${admin}/v1/actions/${action?.action_id}/unknown`, { headers }),
    fetch(`${admin}/v1/incidents/inc_unknown`, { headers }),
    fetch(first?.connection.inbound_url ?? ingress, { method: 'POST', headers, body: JSON.stringify({ name: NAME }) }),
    fetch(`${ingress}/in/unknown`, { method: 'POST', headers, body: JSON.stringify({ email: EMAIL }) }),
  ])
  expect(answers.every(({ status }) => status >= 400 && status < 500)).toBe(true)
  return (await Promise.all(answers.map(answer => answer.text()))).join('\n')
}

describe('the name and the e-mail address of a customer, and the user who made an action,', () => {
  test('reach only the channel that allows it, no log, no metric and no problem document', async () => {
    const texts = async () => ({
      permitted: textOf(permitted.requests),
      webhook: textOf(customer.receiver.deliveries().map(({ rawBody: body }) => ({ body }))),
      slack: textOf(slack.requests),
      mail: await caughtMails(),
    })
    let missing: string[] = []
    const hasAll = async () => {
      const actions = await customer.actions()
      // A message to people has the link to the incident, and not each id of the provider.
      const isAbout = (text: string, ref: string) => {
        const incidentId = actions.find(({ provider_ref, subject }) =>
          [provider_ref, subject].includes(ref),
        )?.incident_id
        return text.includes(ref) || (incidentId != null && text.includes(incidentId))
      }
      missing = Object.entries(await texts()).flatMap(([channel, text]) =>
        refs.filter(ref => !isAbout(text, ref)).map(ref => `${channel} ${ref}`),
      )
      return missing.length === 0
    }
    await until('all alerts in all channels', hasAll, { timeoutMs: WITHIN_MS, everyMs: 250, seen: () => ({ missing }) })
    const { permitted: _, ...others } = await texts()
    const shownFor = (ref: string | undefined) =>
      permitted.requests.map(({ body }) => body.toString()).filter(text => text.includes(String(ref)))
    for (const ref of refs) {
      expect(shownFor(ref).join(), `the alert about ${ref}`).toContain(EMAIL)
      expect(shownFor(ref).join(), `the alert about ${ref}`).toContain(NAME)
    }
    expect(shownFor(refs[1]).join()).toContain(REASON)
    expect(shownFor(refs[5]).join()).toContain(KEY_NAME)
    for (const ref of [refs[2], refs[5]]) expect(shownFor(ref).join(), `the alert about ${ref}`).toContain(OPERATOR)
    for (const [channel, text] of Object.entries(others)) {
      expect(text, channel).not.toContain(CANARY)
      expect(text, channel).not.toContain(OPERATOR)
      expect(text, channel).toContain('(hidden)')
    }

    expect(await problemDocuments()).not.toContain(CANARY)
    const logs = readLogs(product)
    for (const service of product.processes()) {
      const log = logs.get(service.name) ?? ''
      expect(log.length, service.name).toBeGreaterThan(100)
      expect(log, service.name).not.toMatch(new RegExp(`${CANARY}|${OPERATOR}`, 'i'))
      const metrics = await (await fetch(`${service.opsUrl}/metrics`)).text()
      expect(metrics, service.name).not.toMatch(new RegExp(`${CANARY}|${OPERATOR}`, 'i'))
    }
  })

  test('are in no collection after people asked to erase the customer, also after a later refund of the same payment', async () => {
    const isAlerted = (id: string) => async () =>
      (await customer.actions()).some(({ provider_ref, incident_id }) => provider_ref === id && incident_id != null)
    await until('the alert about the first refund', isAlerted(refundErased().id), { timeoutMs: WITHIN_MS })
    await inspector.untilIdle(WITHIN_MS)
    expect(await collectionsWith(ERASED)).toEqual(['actions', 'deliveries', 'inbox_bodies', 'subjects'])
    const path = `/v1/projects/${customer.projectId}/person-erasures`
    const { erasure_id } = await customer.api.post<PersonErasure>(path, { email: `${ERASED}@ERASED.example` })
    let left: string[] = []
    const isErased = async () => {
      left = await collectionsWith(ERASED)
      return left.join() === 'person_erasures'
    }
    const waiting = { timeoutMs: ERASED_WITHIN_MS, everyMs: 1_000, seen: () => ({ left }) }
    await until('the first walk', isErased, waiting)

    const sent = permitted.requests.length
    await until('the alert about the second refund', isAlerted(refundErased().id), { timeoutMs: WITHIN_MS })
    await inspector.untilIdle(WITHIN_MS)
    expect(permitted.requests.length).toBeGreaterThan(sent)
    expect(textOf(permitted.requests.slice(sent))).not.toContain(ERASED)
    expect(await collectionsWith(ERASED)).toEqual(['person_erasures'])

    // The second walk begins ten minutes after the first one.
    const erasures = inspector.database.collection<{ _id: string; second_walk_at: Date }>('erasures')
    await erasures.updateOne({ _id: erasure_id }, { $set: { second_walk_at: new Date() } })
    let shown: PersonErasure | undefined
    const isDone = async () => {
      shown = await customer.api.get<PersonErasure>(`${path}/${erasure_id}`)
      return shown.state === 'done'
    }
    await until('the second walk', isDone, { ...waiting, seen: () => ({ shown }) })
    expect(shown?.erased).toMatchObject({ cases: 1, actions: 2 })
    expect(shown?.erased.bodies).toBeGreaterThan(0)
    expect(shown?.erased.deliveries).toBeGreaterThan(0)
    for (const [service, log] of readLogs(product)) expect(log, service).not.toMatch(new RegExp(ERASED, 'i'))
  })

  test('are in no collection after their connections were deleted, nor is the user', async () => {
    await inspector.untilIdle(WITHIN_MS)
    expect(await collectionsWith(CANARY)).toEqual(['actions', 'deliveries', 'inbox_bodies', 'subjects'])
    expect(await collectionsWith(OPERATOR)).toContain('deliveries')
    const connections = inspector.database.collection<{ _id: string; deleted_at: Date }>('connections')
    for (const { connection } of connected) {
      const path = `/v1/projects/${customer.projectId}/connections/${connection.connection_id}`
      const headers = { authorization: `Bearer ${product.key}` }
      expect((await fetch(`${product.urls.admin}${path}`, { method: 'DELETE', headers })).status).toBe(204)
      // The erasure begins ten minutes after the deletion.
      const deleted_at = new Date(Date.now() - 11 * 60_000)
      await connections.updateOne({ _id: connection.connection_id }, { $set: { deleted_at } })
    }
    let left: string[] = []
    const isErased = async () => {
      left = await collectionsWith(CANARY, OPERATOR)
      return left.length === 0
    }
    await until('the erasure', isErased, { timeoutMs: ERASED_WITHIN_MS, everyMs: 1_000, seen: () => ({ left }) })
    for (const [service, log] of readLogs(product)) {
      expect(log, service).not.toMatch(new RegExp(`${CANARY}|${OPERATOR}`, 'i'))
    }
  })
})
