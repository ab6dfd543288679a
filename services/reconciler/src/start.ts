import { newId } from '@backstop/contracts'
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
import { readReconcilerConfig } from './config.ts'
import { openStores } from './stores.ts'

/** Opens the real connections by the environment's settings, and starts the reconciler. */
export async function startReconciler(
  environment: Environment,
  onInterrupted?: OnInterrupted,
): Promise<RunningService> {
  const config = readReconcilerConfig(environment)
  // A failed batch is repeated as a whole, so the driver need not retry single writes.
  const parts = await openServiceParts('reconciler', config, { retryWrites: false })
  const { logger, metrics, tracing, mongo, bus, clock, onFatal } = parts
  const egress = openEgress(config, parts)
  const codec = await unlessFailed(parts, parts.openCodec())
  const secretBox = createSecretBox(config.SECRET_KEYS)
  const conditions = [
    parts.requireRights,
    async () => judgeSecrets(await readConnectionSecrets(mongo.db), secretBox),
    requireUniqueIndexes(mongo.db, ['reconciler', 'ledger']),
  ]
  const preconditions = createPreconditions({ conditions, clock, logger })
  const app = createApp(
    {
      bus,
      codec,
      clock,
      stores: openStores(mongo),
      openBooks: options => openMongoBooks(mongo.db, options),
      logger,
      metrics,
      tracing,
      egress,
      secretBox,
      random: Math.random,
      onFatal,
    },
    {
      recheckDelayMs: config.RECHECK_DELAY_MS,
      sweepEveryMs: config.SWEEP_EVERY_MS,
      leaseHolder: newId('leaseHolder'),
    },
  )
  return startApp(app, { parts, config, onInterrupted, preconditions, runsOnlyWhenMet: true, stopAfterwards: [egress] })
}
