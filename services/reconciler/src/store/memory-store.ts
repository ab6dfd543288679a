import type {
  Action,
  ActionDocument,
  ConnectionDocument,
  DailyTotalsDocument,
  ExpectedChangeDocument,
  InboxReplayDocument,
  IncidentOutcomeDocument,
  ProjectTotalsDocument,
  StoredIncident,
  SweepDocument,
  TimedOutboxEntry,
} from '@backstop/contracts'
import type { Case } from '../case/case.ts'
import { createMemoryErasures } from '../erasure/erasure-store.ts'
import type { ExpectedChangeUses } from '../expected-change/expected-change-uses.ts'
import type { IncidentChange } from '../incidents/rules/failing-channel.ts'
import { createMemoryIncidentBulks } from './incident-bulks.ts'
import { createMemoryCases } from './memory-cases.ts'
import { createMemoryHeartbeats } from './memory-heartbeats.ts'
import { createMemoryInboxReplays } from './memory-inbox-replays.ts'
import { createMemorySweeps } from './memory-sweeps.ts'
import { createMemoryTotals } from './memory-totals.ts'
import { createMemoryOperationSearch } from './operation-search.ts'
import {
  type ExpectedChangesQuery,
  type InboxEntry,
  MAX_FOUND_PER_SUBJECT,
  type NamedConnection,
  type OpenActionPosition,
  type ReconcilerStores,
  type StandaloneIncidentStore,
} from './store.ts'

/** Stores in memory, for simulations. `contents` is the stored data. */
export function createMemoryStores(): ReconcilerStores & { contents: MemoryContents } {
  const contents: MemoryContents = {
    cases: new Map(),
    actions: new Map(),
    incidents: new Map(),
    incidentOutcomes: new Map(),
    incidentOutboxes: new Map(),
    inbox: new Map(),
    inboxReplays: new Map(),
    connections: new Map(),
    projectNames: new Map(),
    sweeps: new Map(),
    expectedChanges: [],
    expectedChangeUses: new Map(),
    dailyTotals: new Map(),
    projectTotals: new Map(),
  }
  return {
    contents,
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
    standaloneIncidents: memoryIncidents(contents),
    incidentBulks: createMemoryIncidentBulks(contents.incidents, contents.connections),
    incidentOutcomes: {
      byCommands: async ids => ids.flatMap(id => contents.incidentOutcomes.get(id) ?? []),
      insert: async outcomes => {
        for (const outcome of outcomes) {
          if (!contents.incidentOutcomes.has(outcome._id)) contents.incidentOutcomes.set(outcome._id, outcome)
        }
      },
    },
    inbox: {
      known: async ids => new Set(ids.filter(id => contents.inbox.has(id))),
      done: async ids => new Set(ids.filter(id => isDone(contents, id))),
      // An entry brings its body with it.
      keepBodies: async () => {},
      insert: async entries => {
        for (const entry of entries) {
          if (!isDone(contents, entry.document._id)) contents.inbox.set(entry.document._id, entry)
        }
      },
      held: async (connectionId, limit) =>
        [...contents.inbox.values()]
          .filter(({ document }) => document.connection_id === connectionId && document.outcome === 'held')
          .sort((a, b) => a.document.received_at.getTime() - b.document.received_at.getTime())
          .slice(0, limit),
      decideAgain: async documents => {
        for (const document of documents) {
          const entry = contents.inbox.get(document._id)
          if (entry === undefined || (document.outcome === 'parked' && entry.document.outcome !== 'parked')) continue
          const action_ids = [...new Set([...entry.document.action_ids, ...document.action_ids])]
          contents.inbox.set(document._id, { ...entry, document: { ...document, action_ids } })
        }
      },
      release: async ids => markInbox(contents, ids, 'hinted', 'The provider is asked'),
      hold: async (ids, reason) => markInbox(contents, ids, 'held', reason),
      eraseBodies: async (connectionId, limit) => {
        const own = ({ document, body }: InboxEntry) => document.connection_id === connectionId && body !== null
        const found = [...contents.inbox.entries()].filter(([, entry]) => own(entry)).slice(0, limit)
        for (const [id, entry] of found) contents.inbox.set(id, { ...entry, body: null })
        return found.length
      },
    },
    heartbeats: createMemoryHeartbeats(contents),
    operationSearch: createMemoryOperationSearch(),
    inboxReplays: createMemoryInboxReplays(contents),
    sweeps: createMemorySweeps(contents.sweeps),
    erasures: createMemoryErasures(contents.connections),
    totals: createMemoryTotals(contents.dailyTotals, contents.projectTotals, contents),
    connections: {
      byIds: async ids =>
        new Map(
          ids
            .flatMap(id => contents.connections.get(id) ?? [])
            .map(found => [found._id, withProjectName(contents, found)]),
        ),
      readable: async () =>
        [...contents.connections.values()]
          .filter(({ status, read_key }) => status === 'active' && read_key !== null)
          .map(found => withProjectName(contents, found)),
      projectName: async id => contents.projectNames.get(id) ?? null,
    },
    expectedChanges: {
      find: async query => matchingExpectedChanges(query, contents.expectedChanges.filter(isNotDeleted)),
      byIds: async ids => contents.expectedChanges.filter(isNotDeleted).filter(({ _id }) => ids.includes(_id)),
      madeSince: async (since, limit) => {
        const made = contents.expectedChanges
          .filter(isNotDeleted)
          .filter(({ created_at }) => created_at.getTime() >= since)
        const last = made.toSorted((a, b) => b.created_at.getTime() - a.created_at.getTime())
        return [...Map.groupBy(last, expectedChange => expectedChange.project_id).values()].flatMap(expectedChanges =>
          expectedChanges.slice(0, limit),
        )
      },
    },
    expectedChangeUses: {
      load: async ids =>
        new Map(ids.flatMap(id => contents.expectedChangeUses.get(id) ?? []).map(uses => [uses.id, uses])),
      save: async next => {
        if ((contents.expectedChangeUses.get(next.id)?.version ?? 0) !== next.version - 1) return false
        contents.expectedChangeUses.set(next.id, structuredClone(next))
        return true
      },
    },
    openActions: {
      page: async (projectId, after, limit) =>
        [...contents.incidents.values()]
          .filter(({ project_id, code }) => project_id === projectId && code === 'UNEXPECTED_ACTION')
          .filter(({ state }) => state !== 'resolved')
          .map(incident => ({ openedAt: Date.parse(incident.opened_at), incidentId: incident.incident_id, incident }))
          .sort(byPosition)
          .filter(place => after === undefined || byPosition(after, place) < 0)
          .slice(0, limit)
          .flatMap(({ openedAt, incidentId, incident }) => {
            const found = contents.actions.get(incident.action_id ?? '')
            return found === undefined ? [] : [{ openedAt, incidentId, action: toActionDocument(found) }]
          }),
      byIds: async ids => ids.flatMap(id => contents.actions.get(id) ?? []).map(toActionDocument),
    },
  }
}

function toActionDocument({ action_id: _id, ...rest }: Action): ActionDocument {
  return { _id, ...rest, first_seen: new Date(rest.first_seen_at) }
}

function withProjectName({ projectNames }: MemoryContents, connection: ConnectionDocument): NamedConnection {
  return { ...connection, project_name: projectNames.get(connection.project_id) ?? null }
}

function isDone({ inbox }: MemoryContents, inboxId: string): boolean {
  const entry = inbox.get(inboxId)
  return entry !== undefined && entry.document.outcome !== 'parked'
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
  readonly projectNames: Map<string, string>
  readonly sweeps: Map<string, SweepDocument>
  readonly expectedChanges: ExpectedChangeDocument[]
  readonly expectedChangeUses: Map<string, ExpectedChangeUses>
  readonly dailyTotals: Map<string, DailyTotalsDocument>
  readonly projectTotals: Map<string, ProjectTotalsDocument>
}

function byPosition(a: OpenActionPosition, b: OpenActionPosition): number {
  return a.openedAt - b.openedAt || (a.incidentId < b.incidentId ? -1 : a.incidentId > b.incidentId ? 1 : 0)
}

function memoryIncidents({ incidents, incidentOutboxes }: MemoryContents): StandaloneIncidentStore {
  const pendingOf = (id: string) => ({ documentId: id, entries: incidentOutboxes.get(id) ?? [] })
  const put = ({ incident, entries }: IncidentChange) => {
    const id = incident.incident_id
    incidents.set(id, incident)
    incidentOutboxes.set(id, [...(incidentOutboxes.get(id) ?? []), ...entries])
    return pendingOf(id)
  }
  return {
    open: async told => (incidents.has(told.incident.incident_id) ? pendingOf(told.incident.incident_id) : put(told)),
    find: async id => incidents.get(id),
    findAll: async ids => ids.flatMap(id => incidents.get(id) ?? []),
    replace: async told => {
      const current = incidents.get(told.incident.incident_id)
      return current?.version === told.incident.version - 1 ? put(told) : undefined
    },
    pendingOf: async id => pendingOf(id),
    outbox: {
      pending: async (writtenBefore, limit) =>
        [...incidentOutboxes]
          .filter(([, entries]) => entries.some(entry => entry.at < writtenBefore))
          .slice(0, limit)
          .map(([id]) => pendingOf(id)),
      published: async documents => {
        for (const { documentId, entryIds } of documents) {
          const left = (incidentOutboxes.get(documentId) ?? []).filter(entry => !entryIds.includes(entry.id))
          incidentOutboxes.set(documentId, left)
        }
      },
    },
  }
}

function isNotDeleted({ deleted_at = null }: ExpectedChangeDocument): boolean {
  return deleted_at === null
}

/** The expected changes of this list that match a query. */
export function matchingExpectedChanges(
  { projectIds, names, expiringAfter }: ExpectedChangesQuery,
  expectedChanges: readonly ExpectedChangeDocument[],
): ExpectedChangeDocument[] {
  const found = expectedChanges.filter(
    ({ project_id, subject, expires_at }) =>
      projectIds.includes(project_id) &&
      (subject === null || names.includes(subject)) &&
      expires_at.getTime() >= expiringAfter,
  )
  const byObject = Map.groupBy(found, ({ project_id, subject }) => JSON.stringify([project_id, subject]))
  return [...byObject.values()].flatMap(list =>
    list.toSorted((a, b) => b.expires_at.getTime() - a.expires_at.getTime()).slice(0, MAX_FOUND_PER_SUBJECT),
  )
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

function markInbox(
  { inbox }: MemoryContents,
  ids: readonly string[],
  outcome: InboxEntry['document']['outcome'],
  reason: string,
): void {
  for (const id of ids) {
    const entry = inbox.get(id)
    if (entry !== undefined) inbox.set(id, { ...entry, document: { ...entry.document, outcome, reason } })
  }
}
