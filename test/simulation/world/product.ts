import { noMailer } from '@backstop/channels/deliver'
import { Secret } from '@backstop/kit/config'
import type { Egress } from '@backstop/kit/egress'
import { createLogger } from '@backstop/kit/logger'
import { createMetrics } from '@backstop/kit/ops'
import type { MessageCodec } from '@backstop/kit/registry'
import { createSecretBox, parseKeyRing } from '@backstop/kit/secret-box'
import type { Broker } from '@backstop/kit/simulated-kafka'
import type { MongoServer } from '@backstop/kit/simulated-mongo'
import { simulatedMongo } from '@backstop/kit/simulated-mongo'
import { openMongoBooks } from '@backstop/ledger'
import { createApp as createAdminApi } from '../../../services/admin-api/src/app.ts'
import { settingsOf as adminSettings, readAdminConfig } from '../../../services/admin-api/src/config.ts'
import { createInstallationReaders } from '../../../services/admin-api/src/installation/read-state.ts'
import { createMongoExpiredSecrets } from '../../../services/admin-api/src/resources/connections/expired-secrets.ts'
import { createMongoChangeFeed } from '../../../services/admin-api/src/store/mongo-change-feed.ts'
import { createMongoSearchIndex } from '../../../services/admin-api/src/store/mongo-search-index.ts'
import { createMongoStores } from '../../../services/admin-api/src/store/stores.ts'
import { createApp as createIngress } from '../../../services/ingress/src/app.ts'
import { settingsOf as ingressSettings, readIngressConfig } from '../../../services/ingress/src/config.ts'
import { createMongoConnections } from '../../../services/ingress/src/connections/mongo-connections.ts'
import { createApp as createNotifier } from '../../../services/notifier/src/app.ts'
import { openStores as openNotifierStores } from '../../../services/notifier/src/start.ts'
import { DEFAULT_STORM_SETTINGS } from '../../../services/notifier/src/storm/rules/storm-settings.ts'
import { createApp as createReconciler } from '../../../services/reconciler/src/app.ts'
import { openStores as openReconcilerStores } from '../../../services/reconciler/src/stores.ts'
import type { SimulatedProcess } from './process.ts'
import type { Random } from './random.ts'

/** The first API key of the installation. */
export const API_KEY = 'bootstrap-key-of-the-simulation-0123456789'

export const SECRET_KEYS = `test:${Buffer.alloc(32, 7).toString('base64')}`
export const secretBox = createSecretBox(parseKeyRing(new Secret(SECRET_KEYS)))

/** The servers that all processes share. */
export interface Servers {
  readonly mongo: MongoServer
  readonly broker: Broker
  readonly random: Random
  /** The messages that a process writes and reads. */
  readonly codec: MessageCodec
  /** The network outside: providers and receivers. */
  egressOf(process: SimulatedProcess): Egress
  /** Told of log lines of level warn and above. */
  readonly onLog: (process: string, line: Record<string, unknown>) => void
  readonly onFatal: (process: string, error: unknown) => void
}

export interface RunningApp {
  start(): Promise<void>
  stop(): Promise<void>
}

/** An app with an HTTP server. */
export interface ServingApp extends RunningApp {
  /** Why it must get no requests now. */
  unready(): string | undefined
  port(): number
}

/** The parts that every service has. */
function commonParts(servers: Servers, process: SimulatedProcess) {
  const logger = createLogger(process.name, 'warn', { write: line => servers.onLog(process.name, JSON.parse(line)) })
  const bus = servers.broker.openBus({ wire: process.wire, clock: process.clock, logger })
  process.onEnd(() => bus.lost())
  return {
    bus,
    codec: servers.codec,
    clock: { ...process.clock, isMeasured: () => true },
    logger,
    metrics: createMetrics(process.name),
    egress: servers.egressOf(process),
    secretBox,
    onFatal: (error: unknown) => servers.onFatal(process.name, error),
  }
}

export function openIngress(servers: Servers, process: SimulatedProcess): ServingApp {
  const parts = commonParts(servers, process)
  const { db } = simulatedMongo(servers.mongo, process.wire)
  const connections = createMongoConnections({ ...parts, db, reloadMs: 60_000 })
  const load = { judge: () => ({ kind: 'bearable' }) as const }
  return createIngress({ ...parts, connections, load }, ingressSettings(readIngressConfig(SETTINGS)))
}

export function openReconciler(servers: Servers, process: SimulatedProcess): RunningApp {
  const parts = commonParts(servers, process)
  const mongo = simulatedMongo(servers.mongo, process.wire)
  return createReconciler(
    {
      ...parts,
      stores: openReconcilerStores(mongo),
      openBooks: options => openMongoBooks(mongo.db, options),
      random: () => servers.random.next(),
    },
    { recheckDelayMs: 60_000, sweepEveryMs: 60_000, leaseHolder: process.name },
  )
}

export function openNotifier(servers: Servers, process: SimulatedProcess): RunningApp {
  const parts = commonParts(servers, process)
  const mongo = simulatedMongo(servers.mongo, process.wire)
  return createNotifier(
    {
      ...parts,
      ...openNotifierStores(mongo),
      mailer: noMailer,
      canOpenSecrets: async () => true,
      isOverloaded: () => false,
    },
    {
      publicUrl: null,
      brandName: 'Backstop',
      apiPublicUrl: null,
      maxActive: 64,
      maxQueuedPerChannel: 50,
      storms: DEFAULT_STORM_SETTINGS,
    },
  )
}

export function openAdminApi(servers: Servers, process: SimulatedProcess): ServingApp {
  const parts = commonParts(servers, process)
  const { db } = simulatedMongo(servers.mongo, process.wire)
  const app = createAdminApi(
    {
      ...parts,
      stores: createMongoStores(db),
      expiredSecrets: createMongoExpiredSecrets(db),
      changeFeed: createMongoChangeFeed(db),
      search: createMongoSearchIndex(db),
      installation: createInstallationReaders(db),
      openBooks: options => openMongoBooks(db, options),
      showKey: () => {},
    },
    adminSettings(readAdminConfig({ ...SETTINGS, BOOTSTRAP_API_KEY: API_KEY })),
  )
  return app
}

const SETTINGS = {
  MONGO_URL: 'mongodb://simulation',
  KAFKA_BROKERS: 'simulation:9092',
  SCHEMA_REGISTRY_URL: 'http://simulation',
  SECRET_KEYS,
  INGRESS_PUBLIC_URL: 'https://in.example.com',
  PUBLIC_URL: 'https://backstop.example.com',
  API_BASE_ALLOW_HOSTS: '127.0.0.1',
}
