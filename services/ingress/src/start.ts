import {
  createNetworkMatcher,
  createSecretBox,
  type Environment,
  openServiceParts,
  type RunningService,
  startOpsServer,
  watchLoad,
} from '@backstop/kit'
import { PROVIDERS } from '@backstop/providers'
import { createApp, type IngressSettings } from './app.ts'
import { type IngressConfig, readIngressConfig } from './config.ts'
import { createMongoConnections } from './connections/mongo-connections.ts'
import { createLateCodec } from './publish/late-codec.ts'

/** How long one try to learn the schema ids may take before it is logged and made again, in milliseconds. */
const CODEC_TRY_MS = 5_000

export interface RunningIngress extends RunningService {
  /** Ports that it listens on: for providers, and for health and metrics. */
  readonly port: number
  readonly opsPort: number
}

/** Wires the real parts from the environment. Starts whatever is away: until it is there, the answer is 503. */
export async function startIngress(environment: Environment): Promise<RunningIngress> {
  const config = readIngressConfig(environment)
  const { logger, metrics, mongo, bus, clock, openCodec } = openServiceParts('ingress', config)
  const codec = createLateCodec(() => openCodec(CODEC_TRY_MS), clock, logger)
  const connections = createMongoConnections({
    db: mongo.db,
    secretBox: createSecretBox(config.SECRET_KEYS),
    clock,
    logger,
    reloadMs: config.CONNECTIONS_RELOAD_MS,
  })
  const load = watchLoad({ maxUtilization: config.SHED_UTILIZATION, maxLagP99Ms: config.SHED_LAG_MS })
  const ports = { bus, codec, connections, load, clock, logger, metrics }
  const app = createApp(ports, settingsOf(config))
  const ops = await startOpsServer({
    port: config.OPS_PORT,
    host: config.HOST,
    // A process that answers at all is alive; what is away comes back without a restart.
    live: () => undefined,
    ready: async () => app.unready() ?? clock.unready(),
    metrics: {
      ...metrics,
      text() {
        app.recordState()
        return metrics.text()
      },
    },
  })
  await app.start()
  logger.info({ config, port: app.port(), ops_port: ops.port }, 'service.started')
  return {
    logger,
    port: app.port(),
    opsPort: ops.port,
    failed: new Promise(() => {}),
    async stop() {
      await app.stop()
      load.stop()
      await codec.stop()
      await clock.stop()
      await mongo.stop()
      await ops.stop()
    },
  }
}

function settingsOf(config: IngressConfig): IngressSettings {
  return {
    host: config.HOST,
    port: config.PORT,
    credentialHeaders: {
      processor: config.PROCESSOR_SIGNATURE_HEADERS,
      reseller: config.RESELLER_SIGNATURE_HEADERS,
      // Part of HTTP and not of the provider: this one has no other name.
      subscription: PROVIDERS.subscription.credentialHeaders,
    },
    publishTimeoutMs: config.PUBLISH_TIMEOUT_MS,
    lingerMs: config.PUBLISH_LINGER_MS,
    queueMaxMessages: config.QUEUE_MAX_MESSAGES,
    queueMaxBytes: config.QUEUE_MAX_BYTES,
    bodiesMaxBytes: config.BODIES_MAX_BYTES,
    bodyTimeoutMs: config.BODY_TIMEOUT_MS,
    sockets: {
      maxSockets: config.MAX_SOCKETS,
      maxPerAddress: config.MAX_SOCKETS_PER_ADDRESS,
      isTrustedProxy: createNetworkMatcher(config.TRUSTED_PROXY_CIDRS),
    },
    rateLimit: { perSecond: config.RATE_LIMIT_PER_S, burst: config.RATE_LIMIT_BURST },
  }
}
