import { newId } from '@backstop/contracts'
import {
  createSecretBox,
  type Environment,
  type Mongo,
  openEgress,
  openServiceParts,
  type RunningService,
  startOpsServer,
} from '@backstop/kit'
import { openMongoBooks } from '@backstop/ledger'
import { createReconciler } from './app.ts'
import { readReconcilerConfig } from './config.ts'
import { createMongoCases } from './store/mongo-cases.ts'
import { createMongoChannelIncidents } from './store/mongo-channel-incidents.ts'
import {
  createMongoExpectedChanges,
  createMongoExpectedChangeUses,
  createMongoOpenActions,
} from './store/mongo-expected-changes.ts'
import { createMongoConnections, createMongoInbox } from './store/mongo-inbox.ts'
import { createMongoProjections } from './store/mongo-projections.ts'
import { createMongoSweeps } from './store/mongo-sweeps.ts'
import type { ReconcilerStores } from './store/store.ts'

/** A consumer that has not fetched for this long is stuck, not idle: an idle one fetches every quarter of a second. */
const STUCK_AFTER_MS = 120_000

/** Wires the real parts from the environment. */
export async function startReconciler(environment: Environment): Promise<RunningService> {
  const config = readReconcilerConfig(environment)
  // Whatever is interrupted is put off and done again as a whole, so nothing need be remembered of a single write.
  const { logger, metrics, mongo, bus, clock, openCodec } = openServiceParts('reconciler', config, {
    retryWrites: false,
  })
  const egress = openEgress(config, { logger, metrics })
  const startedAtMs = performance.now()
  const failure = Promise.withResolvers<unknown>()
  const [codec] = await Promise.all([openCodec(), clock.untilMeasured()])
  const app = createReconciler({
    bus,
    codec,
    clock,
    stores: openStores(mongo),
    openBooks: options => openMongoBooks(mongo.db, options),
    logger,
    metrics,
    recheckDelayMs: config.RECHECK_DELAY_MS,
    sweepEveryMs: config.SWEEP_EVERY_MS,
    instance: newId('message'),
    egress,
    secretBox: createSecretBox(config.SECRET_KEYS),
    random: Math.random,
    onFatal: failure.resolve,
  })
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
      await clock.stop()
      await Promise.all([egress.stop(), mongo.stop()])
      await ops.stop()
    },
  }
}

/** The reconciler's stores over one database. */
export function openStores(mongo: Mongo): ReconcilerStores {
  return {
    cases: createMongoCases(mongo, () => newId('message')),
    projections: createMongoProjections(mongo),
    channelIncidents: createMongoChannelIncidents(mongo),
    inbox: createMongoInbox(mongo),
    connections: createMongoConnections(mongo),
    expectedChanges: createMongoExpectedChanges(mongo),
    expectedChangeUses: createMongoExpectedChangeUses(mongo),
    openActions: createMongoOpenActions(mongo),
    sweeps: createMongoSweeps(mongo),
  }
}
