import type { Bus } from '@backstop/kit/bus'
import { systemClock } from '@backstop/kit/clock'
import { Secret } from '@backstop/kit/config'
import type { Egress } from '@backstop/kit/egress'
import { AppError } from '@backstop/kit/errors'
import { createLogger } from '@backstop/kit/logger'
import { createMetrics } from '@backstop/kit/ops'
import type { MessageCodec } from '@backstop/kit/registry'
import { createSecretBox, parseKeyRing } from '@backstop/kit/secret-box'
import { createAheadClock, createFixedCodec, createMemoryBus, until } from '@backstop/kit/test'
import { approvalPolicyOf } from '@backstop/ledger'
import { openMemoryBooks } from '@backstop/ledger/test'
import { type AdminApp, type AdminPorts, type AdminSettings, createApp } from '../src/app.ts'
import type { InstallationReaders } from '../src/installation/read-state.ts'
import type { ExpiredSecrets } from '../src/resources/connections/expired-secrets.ts'
import type { ChangeFeed } from '../src/store/change-feed.ts'
import type { SearchIndex } from '../src/store/search-index.ts'
import type { AdminStores } from '../src/store/stores.ts'
import { type ApiClient, createApiClient, type Transcript } from './api-client.ts'
import { createMemorySearchIndex } from './memory-search-index.ts'
import {
  createMemoryExpiredSecrets,
  createMemoryStores,
  type MemoryStores,
  memoryChangeFeedOf,
} from './memory-stores.ts'
import { type OtherServicesCollections, type StandIns, startStandIns } from './stand-ins.ts'

/** A running management API for tests, with stand-ins for the reconciler and the notifier. */
export interface TestApi extends StandIns {
  readonly app: AdminApp
  /** A client with the bootstrap key. */
  readonly api: ApiClient
  readonly stores: AdminStores
  readonly expiredSecrets: ExpiredSecrets
  /** Writable collections of the other services, for test data. */
  readonly others: OtherServicesCollections
  /** Returns the whole content of the database as text. */
  dump(): Promise<string>
  /** Advances the clock of the API, and runs its periodic work that is due then. */
  advanceClock(ms: number): void
  now(): number
  /** All log lines so far. */
  readonly log: readonly string[]
  /** All requests and answers so far. */
  readonly transcript: Transcript
  stop(): Promise<void>
}

export const BOOTSTRAP_KEY = 'bootstrap-key-of-the-tests-0123456789'
export const MAIL_EVENTS_TOKEN = 'mail-events-token-of-the-tests'
/** The token before the rotation. */
export const PREVIOUS_MAIL_EVENTS_TOKEN = 'previous-mail-events-token'
export const CONSOLE_URL = 'https://console.example.test'
export const INGRESS_URL = 'https://in.example.test'

export const secretBoxOfTests = createSecretBox(
  parseKeyRing(new Secret(`k1:${Buffer.alloc(32, 7).toString('base64')}`)),
)

/** A network policy that blocks only malformed URLs and URLs containing "blocked". */
const egressOfTests: Pick<Egress, 'checkUrl' | 'request'> = {
  checkUrl: url => checkUrlOfTests(url),
  // Tests send no requests to other hosts.
  request: async () => Promise.reject(blockedUrl()),
}

function checkUrlOfTests(url: string): AppError | undefined {
  if (url.includes('blocked')) return blockedUrl()
  if (URL.canParse(url)) return undefined
  return new AppError('egress_blocked', 'The URL cannot be parsed', { details: { reason: 'malformed' } })
}

function blockedUrl() {
  const details = { reason: 'literal_address' }
  return new AppError('egress_blocked', 'The URL points to an address that may not be reached from here', { details })
}

/** Settings that a test may override. */
export type TestSettings = Partial<Omit<AdminSettings, 'sockets'>> & {
  readonly sockets?: Partial<AdminSettings['sockets']>
}

const nothing = { count: 0, oldestMs: 0 }
/** An installation in which nothing waits. */
export const idleInstallation: InstallationReaders = {
  undecided: async () => ({ ...nothing, overdue: 0, waiting: 0 }),
  uncomparedOperations: async () => ({ oldestMs: 0 }),
  incidents: async () => [],
  stormsOpen: async () => 0,
  connections: async () => ({ counts: [], keyRejected: 0, unreadable: 0, silent: 0, sweepAgeMs: 0 }),
  deadLetters: async () => [],
  deliveries: async () => ({ pending: nothing, retrying: nothing, dead: nothing }),
  channels: async () => [],
  outboxes: async () => [],
}

/** Creates the app over the given ports. All other ports stay inside the process. */
export function createTestApp(
  given: Pick<AdminPorts, 'stores'> & Partial<AdminPorts>,
  settings: TestSettings = {},
): AdminApp {
  const { clock = systemClock } = given
  const ports: AdminPorts = {
    bus: createMemoryBus({ clock }),
    clock,
    openBooks: options => openMemoryBooks(options),
    codec: createFixedCodec(),
    secretBox: secretBoxOfTests,
    egress: egressOfTests,
    logger: createLogger('admin-api', 'silent'),
    metrics: createMetrics('admin-api'),
    showKey: () => {},
    expiredSecrets: createMemoryExpiredSecrets(given.stores),
    changeFeed: given.changeFeed ?? memoryChangeFeedOf(given.stores),
    installation: given.installation ?? idleInstallation,
    search: given.search ?? createMemorySearchIndex(given.stores as Partial<MemoryStores>),
    ...given,
  }
  const sockets = { maxSockets: 1_000, maxPerAddress: 500, isTrustedProxy: () => false, ...settings.sockets }
  return createApp(ports, {
    host: '127.0.0.1',
    port: 0,
    ingressPublicUrl: INGRESS_URL,
    publicUrl: CONSOLE_URL,
    oidc: undefined,
    brandName: 'Backstop',
    consolePublicUrl: null,
    consoleFolder: '/nowhere',
    mailEventsToken: new Secret(`${MAIL_EVENTS_TOKEN},${PREVIOUS_MAIL_EVENTS_TOKEN}`),
    bootstrapApiKey: new Secret(BOOTSTRAP_KEY),
    sesTopicArns: [],
    apiBaseHosts: [],
    channelHosts: [],
    bodiesMaxBytes: 16_777_216,
    // The tests of one file send more requests in a minute than one client may.
    rateLimits: { perKey: 1_000_000, perAddress: 1_000_000 },
    ...settings,
    sockets,
  })
}

/** Starts the API over the given parts, with stand-ins for the reconciler and the notifier. */
export async function startTestApi(
  parts: Pick<AdminPorts, 'stores' | 'openBooks'> & {
    readonly expiredSecrets?: ExpiredSecrets
    readonly changeFeed?: ChangeFeed
    readonly search?: SearchIndex
    readonly installation?: InstallationReaders
    readonly egress?: AdminPorts['egress']
    readonly others: OtherServicesCollections
    readonly bus: Bus
    readonly codec?: MessageCodec
    readonly dump: () => Promise<string>
    readonly settings?: TestSettings
    readonly onStop?: () => Promise<void>
  },
): Promise<TestApi> {
  const log: string[] = []
  const logger = createLogger('admin-api', 'debug', { write: line => void log.push(line) })
  const codec = parts.codec ?? createFixedCodec()
  const clock = createAheadClock()
  const { bus, stores, openBooks, settings } = parts
  const { expiredSecrets = createMemoryExpiredSecrets(stores) } = parts
  const { changeFeed = memoryChangeFeedOf(stores) } = parts
  const { search = createMemorySearchIndex(stores as Partial<MemoryStores>), egress = egressOfTests } = parts
  const { installation = idleInstallation } = parts
  const given = {
    search,
    installation,
    changeFeed,
    egress,
    bus,
    codec,
    clock,
    stores,
    expiredSecrets,
    openBooks,
    logger,
  }
  const app = createTestApp(given, settings)
  const standIns = await startStandIns(parts.bus, codec, clock, parts.others)
  await app.start()
  const url = `http://127.0.0.1:${app.port()}`
  const transcript: Transcript = []
  const api = createApiClient(url, BOOTSTRAP_KEY, transcript)
  await until('the API to be ready', async () => app.unready() === undefined)
  return {
    app,
    api,
    stores,
    expiredSecrets,
    others: parts.others,
    log,
    transcript,
    dump: parts.dump,
    advanceClock: clock.advance,
    now: () => clock.now(),
    ...standIns.views,
    async stop() {
      await app.stop()
      await standIns.stop()
      await parts.onStop?.()
    },
  }
}

/** Starts the API with all stores in memory. */
export function startMemoryApi(
  settings: TestSettings = {},
  ports: Partial<Pick<AdminPorts, 'egress'>> = {},
): Promise<TestApi> {
  const stores = createMemoryStores()
  const bus = createMemoryBus({ clock: systemClock })
  const openBooks: AdminPorts['openBooks'] = options =>
    openMemoryBooks(options, async id => approvalPolicyOf(await stores.projects.find({ _id: id })))
  const { transaction: _, ...others } = stores
  const collections: readonly { findAll(where: object): Promise<unknown[]> }[] = Object.values(others)
  const dump = async () => JSON.stringify(await Promise.all(collections.map(collection => collection.findAll({}))))
  return startTestApi({ stores, others: stores, bus, dump, settings, openBooks, ...ports })
}
