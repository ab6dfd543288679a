import { newId } from '@backstop/contracts'
import type { Mongo } from '@backstop/kit/mongo'
import { createActorDirectory } from './actors/actor-directory.ts'
import { createMongoActors } from './actors/actor-store.ts'
import { createMongoArchivedActions } from './archive/archived-action-store.ts'
import { createMongoExpectedChanges, createMongoExpectedChangeUses } from './batch/expected-change-store.ts'
import { createMongoProjections } from './batch/projection-store.ts'
import { createMongoBursts } from './bursts/burst-store.ts'
import { createMongoCases } from './cases/mongo-cases.ts'
import { createMongoIncidentBulks } from './commands/incident-bulk-store.ts'
import { createMongoIncidentOutcomes } from './commands/incident-outcome-store.ts'
import { createMongoOpenActions } from './commands/open-action-store.ts'
import { createMongoConnections } from './connections/connection-reader.ts'
import { createMongoErasures } from './erasure/erasure-store.ts'
import { createMongoInbox } from './inbox/inbox-store.ts'
import { createMongoInboxReplays } from './inbox-replay/inbox-replay-store.ts'
import { createMongoStandaloneIncidents } from './incidents/standalone-incident-store.ts'
import { createMongoHeartbeats } from './sweep/heartbeat-store.ts'
import { createMongoOperationSearch } from './sweep/operation-search-store.ts'
import { createMongoSweepDays } from './sweep/sweep-day-store.ts'
import { createMongoSweeps } from './sweep/sweep-store.ts'
import { createMongoTotals } from './totals/mongo-totals.ts'

/** The reconciler's stores. Those in memory, for tests, pass the same contracts (`test/<store>.contract.ts`). */
export type ReconcilerStores = Readonly<ReturnType<typeof openStores>>

/** The reconciler's stores in one database. */
export function openStores(mongo: Mongo) {
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
    archivedActions: createMongoArchivedActions(mongo),
    sweeps: createMongoSweeps(mongo),
    sweepDays: createMongoSweepDays(mongo),
    erasures: createMongoErasures(mongo),
    totals: createMongoTotals(mongo),
    heartbeats: createMongoHeartbeats(mongo),
    operationSearch: createMongoOperationSearch(mongo),
    actors: createActorDirectory(createMongoActors(mongo)),
    bursts: createMongoBursts(mongo),
  }
}
