import { createSmtpMailer, type Mailer, noMailer } from '@backstop/channels/deliver'
import type { Environment } from '@backstop/kit/config'
import type { Logger } from '@backstop/kit/logger'
import type { Mongo } from '@backstop/kit/mongo'
import { watchLoad } from '@backstop/kit/ops'
import { createSecretBox, judgeSecrets } from '@backstop/kit/secret-box'
import {
  createPreconditions,
  type OnInterrupted,
  openEgress,
  openServiceParts,
  type RunningService,
  requireUniqueIndexes,
  startApp,
  unlessFailed,
} from '@backstop/kit/service'
import { createApp, type NotifierStores } from './app.ts'
import { readChannelSecrets } from './channels/channel-secrets.ts'
import { createMongoChannelStore } from './channels/mongo-channel-store.ts'
import { type NotifierConfig, readNotifierConfig, settingsOf } from './config.ts'
import { createMongoDeadLetterStore } from './dead-letters/mongo-dead-letter-store.ts'
import { createMongoDeliveryStore } from './delivery-record/mongo-delivery-store.ts'
import { createMongoHealthStore } from './health/mongo-health-store.ts'
import { createMongoReplayStore, createMongoRequeueStore } from './replay/mongo-requeue-store.ts'
import { createMongoStormStore } from './storm/mongo-storm-store.ts'
import { createMongoSuppressionStore } from './suppressed-addresses/mongo-suppression-store.ts'

/**
 * The process is overloaded if the event loop is 90 % busy or 100 ms late: an attempt takes several turns of the loop
 * and would then look slow.
 */
const LOAD_LIMITS = { maxUtilization: 0.9, maxLagP99Ms: 100 } as const

/** Connects to all dependencies in the environment and starts the notifier. */
export async function startNotifier(environment: Environment, onInterrupted?: OnInterrupted): Promise<RunningService> {
  const config = readNotifierConfig(environment)
  const parts = await openServiceParts('notifier', config)
  const { logger, metrics, tracing, mongo, bus, clock, onFatal } = parts
  const mailer = openMailer(config, logger)
  const egress = openEgress(config, parts)
  const load = watchLoad(LOAD_LIMITS)
  const codec = await unlessFailed(parts, parts.openCodec())
  const secretBox = createSecretBox(config.SECRET_KEYS)
  const conditions = [
    parts.requireRights,
    async () => judgeSecrets(await readChannelSecrets(mongo.db), secretBox),
    requireUniqueIndexes(mongo.db, ['notifier']),
  ]
  const preconditions = createPreconditions({ conditions, clock, logger })
  const app = createApp(
    {
      bus,
      codec,
      clock,
      ...openStores(mongo),
      egress,
      mailer,
      secretBox,
      canOpenSecrets: async () => (await preconditions.recheck()) === undefined,
      logger,
      metrics,
      tracing,
      isOverloaded: () => load.judge().kind === 'overloaded',
      onFatal,
    },
    settingsOf(config),
  )
  return startApp(app, {
    parts,
    config,
    onInterrupted,
    preconditions,
    runsOnlyWhenMet: true,
    stopAfterwards: [load, egress, mailer],
  })
}

/** Creates the notifier's stores on one database. */
export function openStores({ db }: Pick<Mongo, 'db'>): NotifierStores {
  return {
    channels: createMongoChannelStore(db),
    deliveries: createMongoDeliveryStore(db),
    deadLetters: createMongoDeadLetterStore(db),
    health: createMongoHealthStore(db),
    requeues: createMongoRequeueStore(db),
    replays: createMongoReplayStore(db),
    suppressions: createMongoSuppressionStore(db),
    storms: createMongoStormStore(db),
  }
}

function openMailer(config: NotifierConfig, logger: Logger): Mailer {
  const { SMTP_URL: url, SMTP_FROM: from, SMTP_REQUIRE_TLS: requireTls } = config
  if (url === undefined || from === undefined) return noMailer
  const onInvalidUrl = () => logger.error({}, 'smtp_url.not_used')
  return createSmtpMailer({ url, from, requireTls, onInvalidUrl })
}
