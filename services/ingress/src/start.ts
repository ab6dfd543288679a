import type { Environment } from '@backstop/kit/config'
import { createSecretBox, judgeSecrets } from '@backstop/kit/secret-box'
import {
  createPreconditions,
  type OnInterrupted,
  openServiceParts,
  type RunningService,
  readConnectionSecrets,
  startApp,
} from '@backstop/kit/service'
import { createApp } from './app.ts'
import { readIngressConfig, settingsOf } from './config.ts'
import { createMongoConnections } from './connections/mongo-connections.ts'
import { watchTurns } from './overload/turn-watch.ts'
import { createBackgroundCodec } from './publish/background-codec.ts'

/** How long one attempt to read the schema ids may take, in milliseconds. Then it is logged and repeated. */
const CODEC_TRY_MS = 5_000

/** Opens the real connections from the environment and starts ingress. While a dependency is unavailable, ingress answers 503. */
export async function startIngress(environment: Environment, onInterrupted?: OnInterrupted): Promise<RunningService> {
  const config = readIngressConfig(environment)
  const parts = await openServiceParts('ingress', config)
  const { logger, metrics, tracing, mongo, bus, clock } = parts
  const codec = createBackgroundCodec(() => parts.openCodec(CODEC_TRY_MS), clock, logger)
  const secretBox = createSecretBox(config.SECRET_KEYS)
  const connections = createMongoConnections({
    db: mongo.db,
    secretBox,
    clock,
    logger,
    reloadMs: config.CONNECTIONS_RELOAD_MS,
  })
  const load = watchTurns(config.SHED_WAIT_MS)
  const app = createApp({ bus, codec, connections, load, clock, logger, metrics, tracing }, settingsOf(config))
  const conditions = [parts.requireRights, async () => judgeSecrets(await readConnectionSecrets(mongo.db), secretBox)]
  const preconditions = createPreconditions({ conditions, clock, logger })
  // The billing connections are in memory, so ingress accepts notifications while MongoDB is down.
  return startApp(app, { parts, config, onInterrupted, needsMongo: false, preconditions, stopAfterwards: [codec] })
}
