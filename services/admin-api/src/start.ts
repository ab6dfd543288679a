import {
  createNetworkMatcher,
  createSecretBox,
  type Environment,
  openEgress,
  openServiceParts,
  type RunningService,
  startOpsServer,
} from '@backstop/kit'
import { openMongoBooks } from '@backstop/ledger'
import { type AdminSettings, createApp } from './app.ts'
import { type AdminConfig, readAdminConfig } from './config.ts'
import { createMongoExpiredSecrets } from './resources/connections/expired-secrets.ts'
import { createMongoStores } from './store/stores.ts'

/** Wires the real parts from the environment. */
export async function startAdminApi(environment: Environment): Promise<RunningService> {
  const config = readAdminConfig(environment)
  const { logger, metrics, mongo, bus, clock, openCodec } = openServiceParts('admin-api', config)
  const egress = openEgress(config, { logger, metrics })
  const [codec] = await Promise.all([openCodec(), clock.untilMeasured()])
  const app = createApp(
    {
      bus,
      codec,
      clock,
      stores: createMongoStores(mongo.db),
      expiredSecrets: createMongoExpiredSecrets(mongo.db),
      openBooks: options => openMongoBooks(mongo.db, options),
      secretBox: createSecretBox(config.SECRET_KEYS),
      egress,
      logger,
      metrics,
      // Past the logger, which would mask it.
      showKey: key => void process.stdout.write(`\nBackstop API key (shown once, keep it): ${key.reveal()}\n\n`),
    },
    settingsOf(config),
  )
  const ops = await startOpsServer({
    port: config.OPS_PORT,
    host: config.HOST,
    metrics,
    live: () => undefined,
    ready: async () =>
      app.unready() ??
      clock.unready() ??
      mongo.ping().then(
        () => undefined,
        error => String(error),
      ),
  })
  await app.start()
  // The key ring is left out: its key ids would be fine to log, its keys would not.
  const { SECRET_KEYS: keyRing, ...shown } = config
  logger.info(
    { config: shown, key_ids: [...keyRing.keys.keys()], port: app.port(), ops_port: ops.port },
    'service.started',
  )
  return {
    logger,
    // It has no consumer that could be lost: while the process lives, it goes on.
    failed: new Promise(() => {}),
    async stop() {
      await app.stop()
      await egress.stop()
      await clock.stop()
      await mongo.stop()
      await ops.stop()
    },
  }
}

function settingsOf(config: AdminConfig): AdminSettings {
  return {
    host: config.HOST,
    port: config.PORT,
    ingressPublicUrl: config.INGRESS_PUBLIC_URL,
    brandName: config.BRAND_NAME,
    bootstrapApiKey: config.BOOTSTRAP_API_KEY,
    mailEventsToken: config.MAIL_EVENTS_TOKEN,
    sesTopicArns: config.SES_TOPIC_ARNS,
    apiBaseHosts: config.API_BASE_ALLOW_HOSTS,
    slackHosts: config.SLACK_ALLOW_HOSTS,
    bodiesMaxBytes: config.BODIES_MAX_BYTES,
    sockets: {
      maxSockets: config.MAX_SOCKETS,
      maxPerAddress: config.MAX_SOCKETS_PER_ADDRESS,
      isTrustedProxy: createNetworkMatcher(config.TRUSTED_PROXY_CIDRS),
    },
  }
}
