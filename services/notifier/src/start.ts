import {
  createSecretBox,
  type Environment,
  type Mongo,
  openEgress,
  openServiceParts,
  type RunningService,
  startOpsServer,
  watchLoad,
} from '@backstop/kit'
import { createApp, type NotifierStores } from './app.ts'
import { type Mailer, noMailer } from './channels/email/mailer.ts'
import { createSmtpMailer } from './channels/email/smtp-mailer.ts'
import { type NotifierConfig, readNotifierConfig } from './config.ts'
import { createMongoChannelStore } from './store/mongo-channel-store.ts'
import { createMongoDeadLetterStore } from './store/mongo-dead-letter-store.ts'
import { createMongoDeliveryStore } from './store/mongo-delivery-store.ts'
import { createMongoHealthStore } from './store/mongo-health-store.ts'
import { createMongoReplayStore, createMongoRequeueStore } from './store/mongo-requeue-store.ts'
import { createMongoSuppressionStore } from './store/mongo-suppression-store.ts'

/** A consumer that has not fetched for this long is stuck, not idle: an idle one fetches every quarter of a second. */
const STUCK_AFTER_MS = 120_000
/** Busy with turns of 25 ms, or late by 100 ms: an attempt takes some turns, and one of a second counts as slow. */
const LOAD_LIMITS = { maxUtilization: 0.9, maxLagP99Ms: 100 } as const

/** Wires the real parts from the environment. */
export async function startNotifier(environment: Environment): Promise<RunningService> {
  const config = readNotifierConfig(environment)
  const { logger, metrics, mongo, bus, clock, openCodec } = openServiceParts('notifier', config)
  const mailer = openMailer(config)
  const egress = openEgress(config, { logger, metrics })
  const startedAtMs = performance.now()
  const load = watchLoad(LOAD_LIMITS)
  const failure = Promise.withResolvers<unknown>()
  const [codec] = await Promise.all([openCodec(), clock.untilMeasured()])
  const app = createApp(
    {
      bus,
      codec,
      clock,
      ...openStores(mongo),
      egress,
      mailer,
      secretBox: createSecretBox(config.SECRET_KEYS),
      logger,
      metrics,
      isOverloaded: () => load.judge().kind === 'overloaded',
      onFatal: failure.resolve,
    },
    {
      publicUrl: config.PUBLIC_URL?.replace(/\/+$/, '') ?? null,
      brandName: config.BRAND_NAME,
      apiPublicUrl: config.API_PUBLIC_URL?.replace(/\/+$/, '') ?? null,
      maxActive: config.DELIVERIES_MAX_ACTIVE,
      maxQueuedPerChannel: config.CHANNEL_QUEUE_MAX,
    },
  )
  const ops = await startOpsServer({
    port: config.OPS_PORT,
    host: config.HOST,
    metrics,
    live: () => {
      const stuckForMs = Math.min(app.msSinceProgress(), performance.now() - startedAtMs)
      return stuckForMs > STUCK_AFTER_MS ? 'A consumer has not got on for two minutes' : undefined
    },
    ready: () =>
      mongo.ping().then(
        () => clock.unready(),
        error => String(error),
      ),
  })
  await app.start()
  logger.info(
    { config: { ...config, SECRET_KEYS: [...config.SECRET_KEYS.keys.keys()] }, ops_port: ops.port },
    'service.started',
  )
  return {
    logger,
    failed: failure.promise,
    async stop() {
      await app.stop()
      load.stop()
      await clock.stop()
      await Promise.all([egress.stop(), mailer.stop(), mongo.stop()])
      await ops.stop()
    },
  }
}

/** The notifier's stores over one database. */
export function openStores({ db }: Pick<Mongo, 'db'>): NotifierStores {
  return {
    channels: createMongoChannelStore(db),
    deliveries: createMongoDeliveryStore(db),
    deadLetters: createMongoDeadLetterStore(db),
    health: createMongoHealthStore(db),
    requeues: createMongoRequeueStore(db),
    replays: createMongoReplayStore(db),
    suppressions: createMongoSuppressionStore(db),
  }
}

function openMailer(config: NotifierConfig): Mailer {
  const { SMTP_URL: url, SMTP_FROM: from, SMTP_REQUIRE_TLS: requireTls } = config
  return url === undefined || from === undefined ? noMailer : createSmtpMailer({ url, from, requireTls })
}
