import { COLLECTIONS, MIN_ARCHIVE_DAYS } from '@backstop/contracts'
import type { Bus } from '@backstop/kit/bus'
import { systemClock } from '@backstop/kit/clock'
import { Secret } from '@backstop/kit/config'
import type { Egress } from '@backstop/kit/egress'
import { AppError } from '@backstop/kit/errors'
import { createLogger } from '@backstop/kit/logger'
import { createMetrics } from '@backstop/kit/ops'
import { createSecretBox, parseKeyRing } from '@backstop/kit/secret-box'
import { createAheadClock, createFixedCodec, createMemoryBus, until } from '@backstop/kit/test'
import { openMongoBooks } from '@backstop/ledger'
import { type AdminApp, type AdminPorts, type AdminSettings, createApp } from '../src/app.ts'
import type { InstallationReaders } from '../src/installation/read-state.ts'
import { createMongoExpiredSecrets, type ExpiredSecrets } from '../src/resources/connections/expired-secrets.ts'
import { createMongoChangeFeed } from '../src/store/mongo-change-feed.ts'
import { createMongoSearchIndex } from '../src/store/mongo-search-index.ts'
import type { AdminStores } from '../src/store/stores.ts'
import { type ApiClient, createApiClient, type Transcript } from './api-client.ts'
import { createMemoryStores, type TestStores } from './memory-stores.ts'
import { type OtherServicesCollections, type StandIns, startStandIns } from './stand-ins.ts'

/** A running management API for tests, with stand-ins for the reconciler and the notifier. */
export interface TestApi extends StandIns {
  readonly app: AdminApp
  /** A client with the bootstrap key. */
  readonly api: ApiClient
  readonly stores: TestStores
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
  given: Partial<AdminPorts> & { readonly stores: AdminStores & Pick<TestStores, 'db'> },
  settings: TestSettings = {},
): AdminApp {
  const { clock = systemClock } = given
  const { db } = given.stores
  const ports: AdminPorts = {
    bus: createMemoryBus({ clock }),
    clock,
    openBooks: options => openMongoBooks(db, options),
    codec: createFixedCodec(),
    secretBox: secretBoxOfTests,
    egress: egressOfTests,
    logger: createLogger('admin-api', 'silent'),
    metrics: createMetrics('admin-api'),
    showKey: () => {},
    expiredSecrets: createMongoExpiredSecrets(db),
    changeFeed: createMongoChangeFeed(db),
    installation: idleInstallation,
    search: createMongoSearchIndex(db),
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
    archiveAfterDays: MIN_ARCHIVE_DAYS,
    bodiesMaxBytes: 16_777_216,
    // The tests of one file send more requests in a minute than one client may.
    rateLimits: { perKey: 1_000_000, perAddress: 1_000_000 },
    ...settings,
    sockets,
  })
}

/** Starts the API over the given parts, with stand-ins for the reconciler and the notifier. */
export async function startTestApi(
  parts: Partial<Pick<AdminPorts, 'installation' | 'egress' | 'codec'>> & {
    /** With the collections of the other services, for the stand-ins. */
    readonly stores: TestStores
    readonly bus: Bus
    readonly settings?: TestSettings
    readonly onStop?: () => Promise<void>
  },
): Promise<TestApi> {
  const { settings, onStop, ...given } = parts
  const { stores, bus, codec = createFixedCodec() } = given
  const log: string[] = []
  const logger = createLogger('admin-api', 'debug', { write: line => void log.push(line) })
  const clock = createAheadClock()
  const expiredSecrets = createMongoExpiredSecrets(stores.db)
  const app = createTestApp({ ...given, codec, clock, expiredSecrets, logger }, settings)
  const standIns = await startStandIns(bus, codec, clock, stores)
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
    others: stores,
    log,
    transcript,
    async dump() {
      const names = Object.keys(COLLECTIONS)
      return JSON.stringify(await Promise.all(names.map(name => stores.db.collection(name).find().toArray())))
    },
    advanceClock: clock.advance,
    now: () => clock.now(),
    ...standIns.views,
    async stop() {
      await app.stop()
      await standIns.stop()
      await onStop?.()
    },
  }
}

/** Starts the API over a simulated MongoDB and a bus in memory. */
export function startMemoryApi(
  settings: TestSettings = {},
  ports: Partial<Pick<AdminPorts, 'egress'>> = {},
): Promise<TestApi> {
  return startTestApi({
    stores: createMemoryStores(),
    bus: createMemoryBus({ clock: systemClock }),
    settings,
    ...ports,
  })
}
