import {
  type Action,
  type ActorDocument,
  COLLECTIONS,
  type ConnectionDocument,
  type DailyTotalsDocument,
  type ExpectedChangeDocument,
  type InboxReplayDocument,
  type IncidentOutcomeDocument,
  type PersonErasureDocument,
  type ProjectTotalsDocument,
  type StoredIncident,
  type SweepDocument,
  type TimedOutboxEntry,
} from '@backstop/contracts'
import type { Mongo } from '@backstop/kit/mongo'
import { openSimulatedMongo } from '@backstop/kit/simulated-mongo'
import type { Case, ExpectedChangeUses } from '@backstop/verdict'
import { createActorDirectory } from '../../src/actors/actor-directory.ts'
import { createMongoArchivedActions } from '../../src/archive/archived-action-store.ts'
import { createMongoBursts } from '../../src/bursts/burst-store.ts'
import type { Erasure } from '../../src/erasure/erasure-store.ts'
import type { InboxEntry } from '../../src/inbox/inbox-store.ts'
import type { ReconcilerStores } from '../../src/stores.ts'
import { createMongoSweepDays } from '../../src/sweep/sweep-day-store.ts'
import { createMemoryCases } from './memory-cases.ts'
import { createMemoryConnections } from './memory-connections.ts'
import { createMemoryErasures } from './memory-erasures.ts'
import { createMemoryExpectedChanges, createMemoryExpectedChangeUses } from './memory-expected-changes.ts'
import { createMemoryHeartbeats } from './memory-heartbeats.ts'
import { createMemoryInbox } from './memory-inbox.ts'
import { createMemoryInboxReplays } from './memory-inbox-replays.ts'
import { createMemoryIncidentBulks } from './memory-incident-bulks.ts'
import { createMemoryOpenActions } from './memory-open-actions.ts'
import { createMemoryOperationSearch } from './memory-operation-search.ts'
import { createMemoryStandaloneIncidents } from './memory-standalone-incidents.ts'
import { createMemorySweeps } from './memory-sweeps.ts'
import { createMemoryTotals } from './memory-totals.ts'

/** Stores in memory, for simulations. `contents` is the stored data. */
export function createMemoryStores(): ReconcilerStores & { contents: MemoryContents; mongo: Mongo } {
  const contents: MemoryContents = {
    cases: new Map(),
    actions: new Map(),
    incidents: new Map(),
    incidentOutcomes: new Map(),
    incidentOutboxes: new Map(),
    inbox: new Map(),
    inboxReplays: new Map(),
    connections: new Map(),
    personErasures: new Map(),
    erasures: new Map(),
    projectNames: new Map(),
    namedActors: [],
    sweeps: new Map(),
    expectedChanges: [],
    expectedChangeUses: new Map(),
    dailyTotals: new Map(),
    projectTotals: new Map(),
  }
  const { mongo } = openSimulatedMongo(COLLECTIONS)
  return {
    contents,
    mongo,
    cases: createMemoryCases(contents.cases),
    projections: {
      saveActions: async list =>
        keepNewer(
          contents.actions,
          list.map(({ action, mergedInto }) => (mergedInto === null ? action : { ...action, merged_into: mergedInto })),
          action => action.action_id,
        ),
      saveIncidents: async list =>
        keepNewer(
          contents.incidents,
          list.map(({ incident }) => incident),
          incident => incident.incident_id,
        ),
    },
    standaloneIncidents: createMemoryStandaloneIncidents(contents.incidents, contents.incidentOutboxes),
    incidentBulks: createMemoryIncidentBulks(contents.incidents, contents.connections),
    incidentOutcomes: {
      byCommands: async ids => ids.flatMap(id => contents.incidentOutcomes.get(id) ?? []),
      insert: async outcomes => {
        for (const outcome of outcomes) {
          if (!contents.incidentOutcomes.has(outcome._id)) contents.incidentOutcomes.set(outcome._id, outcome)
        }
      },
    },
    inbox: createMemoryInbox(contents.inbox),
    heartbeats: createMemoryHeartbeats(contents),
    operationSearch: createMemoryOperationSearch(),
    actors: createActorDirectory({
      secretsOf: async ids => new Map(ids.map(id => [id, `secret of ${id}`])),
      changedSince: async since =>
        contents.namedActors.filter(({ updated_at }) => since === null || updated_at >= since),
    }),
    // It lists no actions, so no burst is seen. The burst alarm is tested over the simulated MongoDB (bursts.test.ts).
    bursts: createMongoBursts(mongo),
    inboxReplays: createMemoryInboxReplays(contents),
    sweeps: createMemorySweeps(contents.sweeps),
    sweepDays: createMongoSweepDays(mongo),
    erasures: createMemoryErasures(contents.connections, contents.personErasures, contents.erasures),
    totals: createMemoryTotals(contents.dailyTotals, contents.projectTotals, contents),
    connections: createMemoryConnections(contents.connections, contents.projectNames),
    expectedChanges: createMemoryExpectedChanges(contents.expectedChanges),
    expectedChangeUses: createMemoryExpectedChangeUses(contents.expectedChangeUses),
    // Simulations archive nothing (test/cli/archive.contract.ts).
    archivedActions: createMongoArchivedActions(mongo),
    openActions: createMemoryOpenActions(contents.incidents, contents.actions),
  }
}

export interface MemoryContents {
  readonly cases: Map<string, Case>
  readonly actions: Map<string, Action & { merged_into?: string }>
  readonly incidents: Map<string, StoredIncident>
  readonly incidentOutcomes: Map<string, IncidentOutcomeDocument>
  /** Outbox entries of incidents without a case, by the incident's id. */
  readonly incidentOutboxes: Map<string, readonly TimedOutboxEntry[]>
  readonly inbox: Map<string, InboxEntry>
  readonly inboxReplays: Map<string, InboxReplayDocument>
  readonly connections: Map<string, ConnectionDocument>
  readonly erasures: Map<string, Erasure>
  readonly personErasures: Map<string, PersonErasureDocument>
  readonly projectNames: Map<string, string>
  readonly namedActors: ActorDocument[]
  readonly sweeps: Map<string, SweepDocument>
  readonly expectedChanges: ExpectedChangeDocument[]
  readonly expectedChangeUses: Map<string, ExpectedChangeUses>
  readonly dailyTotals: Map<string, DailyTotalsDocument>
  readonly projectTotals: Map<string, ProjectTotalsDocument>
}

function keepNewer<T extends { version: number }>(
  kept: Map<string, T>,
  list: readonly T[],
  idOf: (item: T) => string,
): void {
  for (const item of list) {
    const current = kept.get(idOf(item))
    if (current === undefined || current.version < item.version) kept.set(idOf(item), item)
  }
}
