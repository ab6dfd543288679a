/** Billing accounts at the simulated providers, connected to a customer's project through the API. */
import type { CreatedConnection, OutOfBand, ShownOperation } from '@backstop/contracts'
import {
  type Biller,
  type CardProcessor,
  type CardProcessorOptions,
  type Chance,
  type Credential,
  createBiller,
  createCardProcessor,
  createReseller,
  createWebhookEndpoint,
  type Disturbance,
  type Payload,
  type ProviderApi,
  type ProviderKind,
  type Reseller,
  startBillerApi,
  startProcessorApi,
  startResellerApi,
  type WebhookEndpoint,
} from '@backstop/simulator'
import type { Customer } from './customer.ts'

interface Accounts {
  processor: CardProcessor
  reseller: Reseller
  subscription: Biller
}

export interface Connected<Kind extends ProviderKind> {
  readonly kind: Kind
  readonly connection: CreatedConnection
  /** The account at the provider. */
  readonly account: Accounts[Kind]
  /** Posts the account's events to the connection. */
  readonly endpoint: WebhookEndpoint<Kind>
  /** The provider's API. It has no rate limit, because the product limits its own requests. */
  readonly providerApi: ProviderApi
  /** The settings of a connection that let the product read the account: the read key, the address and the site. */
  readonly readAccess: Readonly<Record<string, string>>
  /** Reports an operation on this connection; its kind is refund by default. */
  report(operation: Record<string, unknown>): Promise<ShownOperation>
  /** Reports a transition of an operation to another state. */
  reportTransition(operationId: string, transition: Record<string, unknown>): Promise<ShownOperation>
  /** Runs a function and loses the events that it causes. The provider counts these events as delivered. */
  withLostEvents<T>(act: () => T): T
  stop(): Promise<void>
}

export interface ConnectOptions {
  readonly outOfBand?: OutOfBand
  /** The setting `burst_alarm`; true by default. */
  readonly hasBurstAlarm?: boolean
  /** True if the connection gets a read key, and a site if its provider has sites. */
  readonly isReadable?: boolean
  readonly disturbance?: Disturbance
  /** Events that the endpoint subscribes to; the documented ones by default. */
  readonly events?: readonly string[]
  /** The form of the processor's events; `snapshot` by default. */
  readonly payload?: Payload
  readonly chance?: Chance
}

export const READ_KEY = 'a-key-that-may-only-read'
/** The key of the software that refunds and cancels through the provider's API. */
export const WRITE_KEY = 'a-key-that-may-write'
const API_OPTIONS = { readKeys: [READ_KEY], writeKeys: [WRITE_KEY], now: Date.now, rateLimits: [] }
const DESTINATION_SECRET = 'pdl_ntfset_01j0000000000000000000000_tests'
/** Events are posted again for longer than any test takes, because ingress may restart or Kafka may be down. */
const RETRY_DELAYS_MS = Array.from({ length: 300 }, () => 200)

export async function connectProcessor(
  customer: Customer,
  options: ConnectOptions & Pick<CardProcessorOptions, 'sendsRefundEvents' | 'livemode'> = {},
): Promise<Connected<'processor'>> {
  const { sendsRefundEvents = true, livemode = false } = options
  const account = createCardProcessor({ now: Date.now, sendsRefundEvents, livemode, ...chanceOf(options) })
  const api = await startProcessorApi({ processor: account, ...API_OPTIONS })
  return connect(customer, 'processor', account, api, options)
}

export async function connectReseller(
  customer: Customer,
  options: ConnectOptions = {},
): Promise<Connected<'reseller'>> {
  const account = createReseller({ now: Date.now, ...chanceOf(options) })
  const api = await startResellerApi({ reseller: account, ...API_OPTIONS })
  return connect(customer, 'reseller', account, api, options)
}

/** Connects a subscription biller. The connection has a read key by default, because every event of a biller is read back. */
export async function connectBiller(
  customer: Customer,
  options: ConnectOptions = {},
): Promise<Connected<'subscription'>> {
  const account = createBiller({ now: Date.now, ...chanceOf(options) })
  const api = await startBillerApi({ biller: account, ...API_OPTIONS })
  return connect(customer, 'subscription', account, api, { isReadable: true, ...options })
}

/** Connects another customer's project to the same account with the same secrets. */
export async function connectAgain<Kind extends ProviderKind>(
  customer: Customer,
  { kind, account, providerApi }: Connected<Kind>,
  options: ConnectOptions = {},
): Promise<Connected<Kind>> {
  const again = await connect(customer, kind, account, providerApi, options)
  // Stops only the endpoint, because the first connection stops the API.
  return { ...again, stop: again.endpoint.stop }
}

function chanceOf({ chance }: ConnectOptions): { chance?: Chance } {
  return chance === undefined ? {} : { chance }
}

const NAMES: Readonly<Record<ProviderKind, string>> = {
  processor: 'Cards',
  reseller: 'Reseller',
  subscription: 'Subscriptions',
}

async function connect<Kind extends ProviderKind>(
  customer: Customer,
  kind: Kind,
  account: Accounts[Kind],
  providerApi: ProviderApi,
  options: ConnectOptions,
): Promise<Connected<Kind>> {
  const readAccess: Record<string, string> = {
    read_key: READ_KEY,
    api_base: providerApi.url,
    ...(kind === 'subscription' ? { site: 'shop' } : {}),
  }
  const connection = await customer.connect({
    kind,
    name: NAMES[kind],
    out_of_band: options.outOfBand ?? 'alert',
    burst_alarm: options.hasBurstAlarm ?? true,
    ...(kind === 'reseller' ? { destination_secret: DESTINATION_SECRET } : {}),
    ...(options.isReadable === true ? readAccess : {}),
  })
  const endpoint = openEndpoint(kind, connection, options)
  // Each account sends only events of its own kind.
  endpoint.follow(account as unknown as Parameters<typeof endpoint.follow>[0])
  return {
    kind,
    connection,
    account,
    endpoint,
    providerApi,
    readAccess,
    report: operation =>
      customer.api.post('/v1/operations', { connection_id: connection.connection_id, kind: 'refund', ...operation }),
    reportTransition: (operationId, transition) =>
      customer.api.post(`/v1/operations/${operationId}/transitions`, transition),
    withLostEvents(act) {
      endpoint.change({ disturbance: { dropRate: 1 } })
      try {
        return act()
      } finally {
        endpoint.change({ disturbance: options.disturbance ?? {} })
      }
    },
    async stop() {
      await Promise.all([endpoint.stop(), providerApi.stop()])
    },
  }
}

/** An endpoint that posts given events to a connection, signed with the connection's secret. */
export function openEndpoint<Kind extends ProviderKind>(
  kind: Kind,
  connection: CreatedConnection,
  { disturbance, events, payload, chance }: Pick<ConnectOptions, 'disturbance' | 'events' | 'payload' | 'chance'> = {},
): WebhookEndpoint<Kind> {
  return createWebhookEndpoint<Kind>({
    url: connection.inbound_url,
    credential: credentialOf(kind, connection) as Credential & { kind: Kind },
    retryDelaysMs: RETRY_DELAYS_MS,
    now: Date.now,
    ...(disturbance === undefined ? {} : { disturbance }),
    ...(events === undefined ? {} : { events }),
    ...(payload === undefined ? {} : { payload }),
    ...(chance === undefined ? {} : { chance }),
  })
}

function credentialOf(kind: ProviderKind, { signing_secret, password }: CreatedConnection): Credential {
  switch (kind) {
    case 'processor':
      return { kind, secrets: [signing_secret ?? ''] }
    case 'reseller':
      return { kind, secrets: [DESTINATION_SECRET] }
    case 'subscription':
      return { kind, password: password ?? '' }
    default:
      throw kind satisfies never
  }
}
