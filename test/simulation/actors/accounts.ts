import type { ProviderKind } from '@backstop/contracts'
import {
  type Credential,
  createBiller,
  createCardProcessor,
  createChance,
  createReseller,
  type EventSource,
  type Payload,
  type ProviderApi,
  startBillerApi,
  startProcessorApi,
  startResellerApi,
} from '@backstop/simulator'
import { billerChangeKinds } from '../../setup/planned-changes/biller.ts'
import type { ChangeKind } from '../../setup/planned-changes/change-kind.ts'
import { processorChangeKinds } from '../../setup/planned-changes/processor.ts'
import { resellerChangeKinds } from '../../setup/planned-changes/reseller.ts'
import type { Random } from '../world/random.ts'
import { type ApiUser, type Json, Refused } from './api-user.ts'
import { type Endpoint, Notifications, type ProviderEvent } from './notifications.ts'
import type { AccountTruth, Ground, Truth } from './truth.ts'
import { confirmed, type World } from './world.ts'

const READ_KEY = 'a-key-that-may-only-read'

/** A kind of change, and the accounts that show it: first the one through which its operation is reported. */
export interface Change {
  readonly kind: ChangeKind
  readonly accounts: readonly Account[]
}

/** An account at a provider, connected to a project. */
export interface Account {
  readonly kind: ProviderKind
  /** The account at the simulated provider. */
  readonly account: object
  readonly providerApi: ProviderApi
  readonly isReadable: boolean
  /** Whether its notifications only hint at changes, which the product has to read. */
  readonly sendsHints: boolean
  readonly truth: AccountTruth
  /** Its setting `refunded_twice_within_hours`. */
  readonly twiceWithinHours: number | null
  /** Its setting `burst_alarm`. */
  readonly hasBurstAlarm: boolean
  readonly endpoint: Endpoint
  readonly notifications: Notifications
  /** Whether the project has a connection to it now. */
  isConnected: boolean
  /** Whether a person is changing its connection. */
  isBeingChanged: boolean
  /** Whether its provider answers with an older state now. */
  isLagging: boolean
  /** Connects it, and sets the provider up to notify the connection. */
  connect(): Promise<void>
  report(operation: object, key?: string): Promise<Json>
  reportTransition(id: string, transition: object, key?: string): Promise<Json>
  withLostEvents<T>(act: () => T): T
}

/** The billing accounts of one customer, at all three providers, connected to its project. */
export interface Accounts {
  readonly changes: readonly Change[]
  readonly accounts: readonly Account[]
}

/** @param settings of its connections */
export async function openAccounts(
  world: World,
  random: Random,
  projectId: string,
  settings: Pick<Account, 'twiceWithinHours' | 'hasBurstAlarm'>,
): Promise<Accounts> {
  const now = () => world.clock.now
  const chance = () => createChance(random.between(0, 2 ** 31))
  const access = () => ({ readKeys: [READ_KEY], now, rateLimits: [], chance: chance() })
  const processor = createCardProcessor({ now, chance: chance() })
  const reseller = createReseller({ now, chance: chance() })
  const biller = createBiller({ now, chance: chance() })
  const open = (kind: ProviderKind, account: object, providerApi: ProviderApi, isReadable: boolean) =>
    openAccount(world, random.fork(kind), { kind, account, providerApi, isReadable, projectId, ...settings })
  const cards = open('processor', processor, await startProcessorApi({ processor, ...access() }), random.chance(0.5))
  const sales = open('reseller', reseller, await startResellerApi({ reseller, ...access() }), random.chance(0.5))
  const subscriptions = open('subscription', biller, await startBillerApi({ biller, ...access() }), true)
  const accounts = [cards, sales, subscriptions]
  for (const account of accounts) await account.connect()
  // Biller and processor both show a refund through the gateway. The operation is reported at the first account.
  const accountsOf = ({ connection, title }: ChangeKind) => {
    const reporting = accounts.filter(({ kind }) => kind === connection.kind)
    return title.includes('through the gateway')
      ? [...reporting, ...without(reporting, [cards, subscriptions])]
      : reporting
  }
  const kinds = [
    ...processorChangeKinds(cards as never),
    ...resellerChangeKinds(sales as never),
    ...billerChangeKinds(subscriptions as never, cards as never),
  ]
  const changes = kinds.map(kind => ({ kind, accounts: accountsOf(kind) }))
  return { changes, accounts }
}

function without<T>(excluded: readonly T[], values: readonly T[]): T[] {
  return values.filter(value => !excluded.includes(value))
}

function openAccount(
  world: World,
  random: Random,
  given: Pick<Account, 'kind' | 'account' | 'providerApi' | 'isReadable' | 'twiceWithinHours' | 'hasBurstAlarm'> & {
    readonly projectId: string
  },
): Account {
  const { api, clock } = world
  const { kind, projectId } = given
  const endpoint: Endpoint = { connectionId: '', credential: { kind: 'none' } }
  const notifications = new Notifications(world, random, kind, () => endpoint, payloadFor(given, random))
  notifications.follow(given.account as EventSource<ProviderEvent>)
  const account: Account = {
    ...given,
    truth: { projectId, kind, grounds: [] as Ground[] },
    endpoint,
    notifications,
    sendsHints: kind === 'subscription' || notifications.areThin,
    isConnected: false,
    isBeingChanged: false,
    isLagging: false,
    connect: async () => {
      await connect(world.api, random, account)
      world.truth.secrets.push(...secretsOf(account))
    },
    report: async (operation, key) => {
      const path = '/v1/operations'
      if (!account.isConnected) throw new Refused(`POST ${path}`, { status: 404, body: {} })
      const moment = { fromMs: clock.now }
      const hasActed = (operation as { readonly state?: string }).state !== 'requested'
      if (hasActed) account.truth.acted ??= moment
      const body = { connection_id: endpoint.connectionId, kind: 'refund', ...operation }
      return confirmed(world, moment, noteReport(world.truth, body, api.post(path, body, key)))
    },
    reportTransition: async (id, transition, key) => {
      const moment = { fromMs: clock.now }
      account.truth.acted ??= moment
      const call = api.post(`/v1/operations/${id}/transitions`, transition, key)
      return confirmed(world, moment, noteReport(world.truth, transition, call))
    },
    withLostEvents: act => notifications.losing(act),
  }
  return account
}

/** What the provider posts. Without a read key only events with their object are judged. */
function payloadFor({ kind, isReadable }: Pick<Account, 'kind' | 'isReadable'>, random: Random): Payload {
  // A number of its own, so that the seeds of before give the same runs otherwise.
  const chosen = random.fork('payload').between(0, 4)
  if (kind !== 'processor' || chosen > 1) return 'snapshot'
  return chosen === 0 && isReadable ? 'thin' : 'both'
}

/**
 * A report that is not confirmed may have made an operation. One that is refused has not: a repeat gets the answer of the attempt that was
 * carried out, although the account was disconnected meanwhile ("Idempotency" in docs/api.md).
 */
async function noteReport(truth: Truth, given: object, call: Promise<Json>): Promise<Json> {
  truth.unconfirmedReports += 1
  try {
    const made = await call
    const { provider_ref: providerRef, state, to } = given as { [_ in 'provider_ref' | 'state' | 'to']?: string }
    const [operationId, reported] = [String(made.operation_id), state ?? to]
    truth.reports.push({ operationId, state: String(made.state), reported, providerRef })
    return made
  } finally {
    truth.unconfirmedReports -= 1
  }
}

async function connect(api: ApiUser, random: Random, account: Account): Promise<void> {
  const { kind, isReadable, providerApi, truth, endpoint, twiceWithinHours } = account
  // The reseller makes the secret.
  const destinationSecret = `pdl_ntfset_01j0000000000000000000000_${random.between(0, 2 ** 31)}`
  const own = kind === 'reseller' ? { destination_secret: destinationSecret } : {}
  const path = `/v1/projects/${truth.projectId}/connections`
  const made = await api.post(path, {
    kind,
    name: `Account at the ${kind}`,
    out_of_band: 'alert',
    ...(account.hasBurstAlarm ? {} : { burst_alarm: false }),
    ...(twiceWithinHours === null ? {} : { refunded_twice_within_hours: twiceWithinHours }),
    ...own,
    ...(isReadable ? { read_key: READ_KEY, api_base: providerApi.url } : {}),
    ...(kind === 'subscription' ? { site: 'shop' } : {}),
  })
  endpoint.connectionId = String(made.connection_id)
  endpoint.credential = credentialOf(kind, { ...own, ...made }) ?? (await rotateSecret(api, account))
  account.isConnected = true
}

/** The secrets of a connection, which only its customer and its provider know. */
export function secretsOf({ endpoint: { credential }, isReadable }: Account): string[] {
  const inbound = credential.kind === 'none' ? [] : 'secrets' in credential ? credential.secrets : [credential.password]
  return [...inbound, ...(isReadable ? [READ_KEY] : [])]
}

/** Replaces the secret. The answer shows it only once: if it is lost, the secret is rotated again. */
export async function rotateSecret(
  api: ApiUser,
  { kind, truth, endpoint }: Account,
  next: { readonly destinationSecret?: string; readonly overlapSeconds?: number | undefined } = {},
): Promise<Credential> {
  const own = kind === 'reseller' ? { destination_secret: next.destinationSecret ?? '' } : {}
  const overlap = next.overlapSeconds === undefined ? {} : { overlap_seconds: next.overlapSeconds }
  const path = `/v1/projects/${truth.projectId}/connections/${endpoint.connectionId}/rotate-secret`
  for (;;) {
    const { status, body } = await api.call('POST', path, { ...own, ...overlap }, api.newKey())
    if (status >= 300) throw new Refused(`POST ${path}`, { status, body })
    const credential = credentialOf(kind, { ...own, ...body })
    if (credential !== undefined) return credential
  }
}

/** Undefined if the answer does not show the secret, because it answers a repeated request. */
function credentialOf(kind: ProviderKind, made: Json): Credential | undefined {
  const { signing_secret, destination_secret, password } = made
  if (kind === 'subscription') return password === undefined ? undefined : { kind, password: String(password) }
  const secret = kind === 'processor' ? signing_secret : destination_secret
  return secret === undefined ? undefined : { kind, secrets: [String(secret)] }
}
