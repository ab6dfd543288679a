import type { Environment } from '@backstop/kit/config'
import { createSecretBox, judgeSecrets } from '@backstop/kit/secret-box'
import {
  createPreconditions,
  type OnInterrupted,
  openEgress,
  openServiceParts,
  type RunningService,
  readConnectionSecrets,
  requireUniqueIndexes,
  startApp,
  unlessFailed,
} from '@backstop/kit/service'
import { openMongoBooks } from '@backstop/ledger'
import { createApp } from './app.ts'
import { readAdminConfig, settingsOf } from './config.ts'
import { showInstallation } from './installation/installation-metrics.ts'
import { createInstallationReaders } from './installation/read-state.ts'
import { createMongoExpiredSecrets } from './resources/connections/expired-secrets.ts'
import { createMongoChangeFeed } from './store/mongo-change-feed.ts'
import { createMongoSearchIndex } from './store/mongo-search-index.ts'
import { createMongoStores } from './store/stores.ts'

/** Opens the real parts from the environment and starts admin-api. */
export async function startAdminApi(environment: Environment, onInterrupted?: OnInterrupted): Promise<RunningService> {
  const config = readAdminConfig(environment)
  const parts = await openServiceParts('admin-api', config)
  const { logger, metrics, tracing, mongo, bus, clock } = parts
  const egress = openEgress(config, parts)
  const codec = await unlessFailed(parts, parts.openCodec())
  const secretBox = createSecretBox(config.SECRET_KEYS)
  const installation = createInstallationReaders(mongo.db)
  const conditions = [
    parts.requireRights,
    async () => judgeSecrets(await readConnectionSecrets(mongo.db), secretBox),
    requireUniqueIndexes(mongo.db, ['admin-api', 'ledger']),
  ]
  const preconditions = createPreconditions({ conditions, clock, logger })
  const app = createApp(
    {
      bus,
      codec,
      clock,
      stores: createMongoStores(mongo.db),
      expiredSecrets: createMongoExpiredSecrets(mongo.db),
      changeFeed: createMongoChangeFeed(mongo.db),
      search: createMongoSearchIndex(mongo.db),
      installation,
      openBooks: options => openMongoBooks(mongo.db, options),
      secretBox,
      refusesChanges: () => preconditions.fault(),
      egress,
      logger,
      metrics,
      tracing,
      // Written directly to stdout, because the logger would mask it.
      showKey: key => void process.stdout.write(`\nBackstop API key (shown once, keep it): ${key.reveal()}\n\n`),
    },
    settingsOf(config),
  )
  showInstallation({ readers: installation, metrics, clock, logger })
  // The console and all reading go on while Kafka is unavailable, when people need them most.
  return startApp(app, { parts, config, onInterrupted, needsKafka: false, preconditions, stopAfterwards: [egress] })
}
