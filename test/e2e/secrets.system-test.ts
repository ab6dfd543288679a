/**
 * A product is used with a secret of each kind, and with requests, receivers and providers that fail. Afterwards no secret may be in the
 * database, in Kafka, in a log or in an answer of the API, except in the one answer that shows it.
 */
import { randomBytes } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { CreatedConnection } from '@backstop/contracts'
import { listen } from '@backstop/kit/ops'
import { startReceiver, until } from '@backstop/kit/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Product } from '../../scripts/start/product.ts'
import { SERVICES } from '../../scripts/start/service-environment.ts'
import { connectBiller, connectProcessor, connectReseller } from '../setup/accounts.ts'
import { type Customer, openCustomer } from '../setup/customer.ts'
import { openProduct, stackUrls } from '../setup/product.ts'
import { openInspector, type ProductInspector } from '../setup/product-inspector.ts'
import { readDatabase, readLogs, readTopics, type Traces } from '../setup/product-traces.ts'
import { formsOf } from '../setup/secret-forms.ts'

const WITHIN_MS = 120_000
const stops: (() => Promise<unknown>)[] = []
let product: Product
let inspector: ProductInspector
let customer: Customer
/** The secrets by what they are. */
const secrets = new Map<string, Uint8Array>()
/** The answers of the API, without those that show a secret. */
const answers: string[] = []

/** Creates a secret. Its characters change in URLs and in base64. */
function createSecret(name: string): string {
  return remember(name, `canary/${randomBytes(12).toString('base64url')}+${randomBytes(6).toString('hex')}==`)
}

function remember(name: string, secret: string | undefined): string {
  if (secret === undefined) throw new Error(`There is no ${name}`)
  secrets.set(name, Buffer.from(secret))
  return secret
}

interface Call {
  readonly body?: unknown
  readonly headers?: Record<string, string>
  /** True for the one answer that shows a secret. */
  readonly showsSecret?: boolean
}

async function call(method: string, path: string, { body, headers = {}, showsSecret = false }: Call = {}) {
  const { authorization = `Bearer ${product.key}`, ...others } = headers
  // A request with an empty Authorization header is not a request without the header: its cookie would be ignored.
  const credentials = authorization === '' ? {} : { authorization }
  const response = await fetch(`${product.urls.admin}${path}`, {
    method,
    redirect: 'manual',
    headers: { 'content-type': 'application/json', ...credentials, ...others },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  const answer = `${method} ${path}: ${response.status} ${JSON.stringify([...response.headers])} ${text}`
  if (!showsSecret) answers.push(answer)
  const json = text.startsWith('{') ? JSON.parse(text) : {}
  return { status: response.status, json, cookies: response.headers.getSetCookie(), headers: response.headers, answer }
}

/** @throws Error if the answer is not 2xx */
async function succeed(method: string, path: string, options: Call = {}) {
  const result = await call(method, path, options)
  if (result.status >= 300) throw new Error(result.answer)
  return result.json
}

beforeAll(async () => {
  const provider = await startRefusingProvider()
  const masterKey = randomBytes(32)
  secrets.set('master key', masterKey)
  const masterKeyText = remember('master key as it is set', masterKey.toString('base64'))
  const smtp = new URL(stackUrls().smtp)
  const shared = { LOG_LEVEL: 'debug', SECRET_KEYS: `canary:${masterKeyText}` }
  const mailPassword = encodeURIComponent(createSecret('SMTP password'))
  const serviceEnv = {
    ...Object.fromEntries(SERVICES.map(service => [service, shared])),
    notifier: { ...shared, SMTP_URL: `smtp://sender:${mailPassword}@${smtp.host}`, SMTP_REQUIRE_TLS: 'false' },
    'admin-api': {
      ...shared,
      MAIL_EVENTS_TOKEN: remember('mail events token', randomBytes(24).toString('base64url')),
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: 'backstop',
      OIDC_CLIENT_SECRET: createSecret('OIDC client secret'),
    },
  }
  product = await openProduct('secrets', { recheckDelayMs: 1_500, serviceEnv })
  stops.push(() => product.stop())
  remember('bootstrap key', product.key)
  inspector = await openInspector(product)
  customer = await openCustomer(product)
  stops.push(inspector.stop, customer.stop)
})

afterAll(async () => {
  for (const stop of stops.reverse()) await stop()
})

/** An OpenID Connect provider that refuses every code and repeats the request in its answer. */
async function startRefusingProvider(): Promise<{ issuer: string }> {
  let issuer = ''
  const server: Server = createServer(async (request, response) => {
    response.setHeader('content-type', 'application/json')
    if (request.url?.startsWith('/.well-known/')) {
      response.end(JSON.stringify({ issuer, ...endpointsOf(issuer) }))
      return
    }
    let body = ''
    for await (const chunk of request) body += chunk
    const error_description = `${body} ${request.headers.authorization ?? ''}`
    response.statusCode = 401
    response.end(JSON.stringify({ error: 'invalid_client', error_description }))
  })
  await listen(server, 0, '127.0.0.1')
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  stops.push(async () => {
    server.close()
    server.closeAllConnections()
  })
  return { issuer }
}

const endpointsOf = (issuer: string) => ({
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  jwks_uri: `${issuer}/keys`,
  response_types_supported: ['code'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['RS256'],
})

/** Connects all three providers, refunds at each, and rotates a signing secret. @returns the provider's ids of the refunds */
async function useConnections(): Promise<string[]> {
  const connections = `/v1/projects/${customer.projectId}/connections`
  const connecting: Customer = {
    ...customer,
    async connect(body) {
      const of = `of ${body.kind}`
      for (const name of ['read_key', 'destination_secret']) {
        if (body[name] !== undefined) remember(`${name} ${of}`, String(body[name]))
      }
      const created: CreatedConnection = await succeed('POST', connections, { body, showsSecret: true })
      if (body.kind === 'processor') remember(`signing secret ${of}`, created.signing_secret)
      if (body.kind === 'subscription') remember(`password ${of}`, created.password)
      return created
    },
  }
  const cards = await connectProcessor(connecting, { isReadable: true })
  const reseller = await connectReseller(connecting, { isReadable: true })
  const biller = await connectBiller(connecting)
  stops.push(cards.stop, reseller.stop, biller.stop)
  const payment = cards.account.createPayment({ amount: 2_499, currency: 'eur' })
  const sold = reseller.account.subscribe({ amount: 3_499 })
  const bill = biller.account.bill({ amount: 4_499 })
  const refunds = [
    cards.account.refund({ payment_intent: payment.paymentIntent.id }).id,
    reseller.account.refund({ transactionId: sold.transaction.id, reason: 'Asked for' }).id,
    biller.account.refundInvoice(bill.invoice.id).refund.id,
  ]
  for (const { connection } of [cards, reseller, biller]) {
    const path = `${connections}/${connection.connection_id}`
    await succeed('GET', path)
    const read_key = createSecret(`refused read key of ${connection.kind}`)
    expect((await call('PATCH', path, { body: { read_key, api_base: 'nope' } })).status).toBe(400)
  }
  // A connection of which every request is refused.
  const read_key = createSecret('read key that the provider refuses')
  const refused = { kind: 'processor', name: 'Refused', read_key, api_base: cards.readAccess.api_base }
  const signing_secret = createSecret('signing secret of the caller')
  const added = await succeed('POST', connections, { body: { ...refused, signing_secret }, showsSecret: true })
  const rotated = await succeed('POST', `${connections}/${added.connection_id}/rotate-secret`, {
    ...{ body: {}, showsSecret: true },
  })
  remember('rotated signing secret', rotated.signing_secret)
  await fetch(added.inbound_url, {
    method: 'POST',
    headers: { 'stripe-signature': `t=1,v1=${signing_secret}`, authorization: `Bearer ${read_key}` },
    body: 'not JSON',
  })
  await succeed('GET', connections)
  return refunds
}

/** Creates channels of each kind with secrets, of which some cannot be reached, and tests them. */
async function useChannels(): Promise<void> {
  const receiver = await startReceiver()
  stops.push(receiver.stop)
  const closed = 'http://127.0.0.1:9'
  const key = randomBytes(24)
  secrets.set('bytes of the webhook secret', key)
  const headers = { authorization: `Bearer ${createSecret('header of a webhook')}` }
  const routing_key = remember('PagerDuty routing key', randomBytes(16).toString('hex'))
  const pathIn = (kind: string) => `/hook/${remember(`${kind} token`, randomBytes(18).toString('base64url'))}`
  const configs = [
    { kind: 'webhook', url: `${receiver.url}/alerts`, secret: `whsec_${key.toString('base64')}`, headers },
    { kind: 'webhook', url: `${closed}/alerts`, secret: createSecret('secret of an unreachable webhook'), headers },
    { kind: 'slack', webhook_url: `${receiver.url}${pathIn('Slack')}` },
    { kind: 'teams', webhook_url: `${receiver.url}${pathIn('Teams')}` },
    { kind: 'discord', webhook_url: `${closed}${pathIn('Discord')}` },
    { kind: 'pagerduty', routing_key, events_url: `${receiver.url}/enqueue` },
    { kind: 'email', to: ['ops@example.com'] },
  ]
  for (const config of configs) {
    const common = { project_id: customer.projectId, name: `Canary ${config.kind}`, events: ['incident.opened'] }
    const { channel_id } = await succeed('POST', '/v1/alert-channels', { body: { ...common, config } })
    const path = `/v1/alert-channels/${channel_id}`
    await call('POST', `${path}/test`, { body: {} })
    await succeed('GET', path)
    if (config.kind === 'slack') {
      const webhook_url = `${receiver.url}${pathIn('second Slack')}`
      await succeed('PATCH', path, { body: { config: { kind: 'slack', webhook_url } } })
    }
    if (config.kind === 'webhook') {
      const rotated = await succeed('POST', `${path}/rotate-secret`, { body: {}, showsSecret: true })
      remember(`rotated secret of ${config.url}`, rotated.secret)
    }
  }
  await succeed('GET', `/v1/alert-channels?project_id=${customer.projectId}`)
}

/** Uses API keys, sessions and sign-in links, also after they ended. */
async function signIn(): Promise<void> {
  const body = { name: 'Canary', scopes: ['admin'] }
  const { key_id, key: first } = await succeed('POST', '/v1/api-keys', { body, showsSecret: true })
  const { key } = await succeed('POST', `/v1/api-keys/${key_id}/rotate`, { body: {}, showsSecret: true })
  remember('API key', first)
  remember('rotated API key', key)
  const browser = { authorization: '', 'sec-fetch-site': 'same-origin' }
  const link = await succeed('POST', '/v1/sign-in-links', { body: {}, showsSecret: true })
  remember('sign-in token', link.token)
  for (const body of [{ key }, { token: link.token }]) {
    const { status, cookies, answer } = await call('POST', '/v1/sessions', {
      ...{ body, headers: browser, showsSecret: true },
    })
    expect(status, answer.slice(0, 200)).toBe(201)
    const [cookie = ''] = (cookies[0] ?? '').split(';')
    remember(`session cookie of a ${Object.keys(body)[0]}`, cookie.split('=')[1])
    await call('GET', '/v1/me', { headers: { ...browser, cookie } })
    await call('GET', '/v1/sessions', { headers: { ...browser, cookie } })
    await call('DELETE', '/v1/sessions/current', { headers: { ...browser, cookie } })
    await call('GET', '/v1/me', { headers: { ...browser, cookie } })
  }
  await call('POST', '/v1/sessions', { body: { token: link.token }, headers: browser })
  for (const bearer of [first, key]) await call('GET', '/v1/me', { headers: { authorization: `Bearer ${bearer}` } })
  await succeed('GET', '/v1/api-keys')
  await call('DELETE', `/v1/api-keys/${key_id}`)
  await call('GET', '/v1/me', { headers: { authorization: `Bearer ${key}` } })

  const begun = await call('GET', '/v1/sign-in/oidc', { headers: { authorization: '' } })
  const state = new URL(begun.headers.get('location') ?? '').searchParams.get('state')
  const cookie = (begun.cookies[0] ?? '').split(';')[0] ?? ''
  const path = `/v1/sign-in/oidc/callback?code=a-code&state=${state}`
  const refused = await call('GET', path, { headers: { authorization: '', cookie } })
  expect(refused.status).toBeGreaterThanOrEqual(400)
}

/** Reports of mail providers, right and wrong ones. */
async function reportMail(): Promise<void> {
  const token = Buffer.from(secrets.get('mail events token') ?? []).toString()
  for (const body of ['not JSON', { RecordType: 'Bounce', Email: 'somebody@example.com' }]) {
    // The path of the request is no part of the answer.
    const { answer } = await call('POST', `/v1/mail-events/postmark/${token}`, { body, showsSecret: true })
    answers.push(answer.replace(token, '…'))
  }
}

/** The names of the secrets that are in each place. */
function findSecrets(places: Traces): string[] {
  return [...places].flatMap(([place, text]) =>
    [...secrets].flatMap(([name, secret]) =>
      formsOf(secret).some(form => text.includes(form)) ? [`${name} is in ${place}`] : [],
    ),
  )
}

test('no secret is in the database, in Kafka, in a log or in an answer that does not show it', async () => {
  await useChannels()
  const refunds = await useConnections()
  await signIn()
  await reportMail()
  for (const refund of refunds) await customer.alertAbout(refund, WITHIN_MS)
  const deliveries = inspector.database.collection('deliveries')
  const attemptedChannels = async () =>
    (await deliveries.distinct('channel_id', { 'attempts.0': { $exists: true } })).length
  await until('an attempt at every channel', async () => (await attemptedChannels()) >= 8, {
    ...{ timeoutMs: WITHIN_MS, everyMs: 500, seen: () => product.processes().map(({ name }) => name) },
  })
  await succeed('POST', '/v1/secret-keys/rewrap', { body: {} })
  for (const list of ['actions', 'incidents', 'deliveries', 'audit', 'sessions', 'secret-keys', 'api-keys']) {
    const page = list === 'secret-keys' ? '' : '?limit=200'
    await succeed('GET', `/v1/${list}${page}`)
  }
  for (const { opsUrl } of product.processes()) answers.push(await (await fetch(`${opsUrl}/metrics`)).text())

  const database = await readDatabase(inspector.database)
  const topics = await readTopics(product)
  const logs = readLogs(product)
  const [refund = ''] = refunds
  // The search finds what is there.
  expect(database.get('actions')).toContain(refund)
  expect(topics.get('alerts')).toContain(refund)
  expect(answers.join()).toContain(refund)
  for (const [service, log] of logs) expect(log.length, service).toBeGreaterThan(100)

  const encrypted = findSecrets(
    new Map([['itself', [...secrets.values()].map(one => Buffer.from(one).toString('base64')).join(' ')]]),
  )
  expect(encrypted).toHaveLength(secrets.size)
  expect(findSecrets(database), 'database').toEqual([])
  expect(findSecrets(topics), 'Kafka').toEqual([])
  expect(findSecrets(logs), 'logs').toEqual([])
  expect(findSecrets(new Map(answers.map(answer => [answer.slice(0, 60), answer]))), 'answers').toEqual([])
})
