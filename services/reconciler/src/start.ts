import { newId } from '@backstop/contracts'
import type { Environment } from '@backstop/kit/config'
import type { Mongo } from '@backstop/kit/mongo'
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
import { createMongoErasures } from './erasure/erasure-store.ts'
import { createMongoIncidentBulks } from './store/incident-bulks.ts'
import { createMongoCases } from './store/mongo-cases.ts'
import { createMongoConnections } from './store/mongo-connections.ts'
import { createMongoExpectedChanges, createMongoExpectedChangeUses } from './store/mongo-expected-changes.ts'
import { createMongoHeartbeats } from './store/mongo-heartbeats.ts'
import { createMongoInbox } from './store/mongo-inbox.ts'
import { createMongoInboxReplays } from './store/mongo-inbox-replays.ts'
import { createMongoOpenActions } from './store/mongo-open-actions.ts'
import { createMongoProjections } from './store/mongo-projections.ts'
import { createMongoIncidentOutcomes, createMongoStandaloneIncidents } from './store/mongo-standalone-incidents.ts'
import { createMongoSweeps } from './store/mongo-sweeps.ts'
import { createMongoTotals } from './store/mongo-totals.ts'
import { createMongoOperationSearch } from './store/operation-search.ts'
import type { ReconcilerStores } from './store/store.ts'

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
  const [codec] = await unlessFailed(parts, Promise.all([parts.openCodec(), clock.untilMeasured()]))
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

/** The reconciler's stores in one database. */
export function openStores(mongo: Mongo): ReconcilerStores {
  return {
    cases: createMongoCases(mongo, () => newId('writeToken')),
    projections: createMongoProjections(mongo),
    standaloneIncidents: createMongoStandaloneIncidents(mongo),
    incidentOutcomes: createMongoIncidentOutcomes(mongo),
    incidentBulks: createMongoIncidentBulks(mongo),
    inbox: createMongoInbox(mongo),
    inboxReplays: createMongoInboxReplays(mongo),
    connections: createMongoConnections(mongo),
    expectedChanges: createMongoExpectedChanges(mongo),
    expectedChangeUses: createMongoExpectedChangeUses(mongo),
    openActions: createMongoOpenActions(mongo),
    sweeps: createMongoSweeps(mongo),
    erasures: createMongoErasures(mongo),
    totals: createMongoTotals(mongo),
    heartbeats: createMongoHeartbeats(mongo),
    operationSearch: createMongoOperationSearch(mongo),
  }
}
