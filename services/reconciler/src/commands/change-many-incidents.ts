import {
  type Command,
  deterministicId,
  hasEndedByItself,
  type IncidentBulkDocument,
  isoTime,
  type StoredIncident,
} from '@backstop/contracts'
import { type Clock, createPeriodic, type Periodic } from '@backstop/kit/clock'
import type { Logger } from '@backstop/kit/logger'
import type { ChangeIncident } from '@backstop/verdict'
import type { IncidentChanger } from './change-incidents.ts'
import type { IncidentBulkStore } from './incident-bulk-store.ts'

export interface BulkChangerOptions {
  readonly bulks: IncidentBulkStore
  readonly changer: IncidentChanger
  readonly clock: Clock
  readonly logger: Logger
}

/** Changes many incidents page by page. Any process continues a bulk change after a crash. */
export interface BulkChanger {
  begin(command: Extract<Command, { kind: 'change_incidents' }>): Promise<string>
  readonly timers: readonly Periodic[]
}

/** Incidents that one page checks. */
const PAGE = 200
const LOOK_EVERY_MS = 2_000
const LOOK_FOR_DELETIONS_EVERY_MS = 10_000
/** Another process repeats a page after this time. The repeat changes nothing twice. */
const PAGE_TAKES_AT_MOST_MS = 30_000

export function createBulkChanger({ bulks, changer, clock, logger }: BulkChangerOptions): BulkChanger {
  async function changePage(due: IncidentBulkDocument): Promise<void> {
    const claimed = { next_page_at: new Date(clock.now() + PAGE_TAKES_AT_MOST_MS) }
    const bulk = await bulks.advance(due, claimed)
    if (bulk === undefined) return
    const page = await bulks.page(bulk, PAGE)
    const outcomes = await changer.change(page.flatMap(incident => commandFor(bulk, incident, clock.now())))
    const changed = outcomes.filter(({ outcome }) => outcome === 'changed').length
    const last = page.at(-1)
    const isDone = page.length < PAGE
    await bulks.advance(bulk, {
      changed: bulk.changed + changed,
      refused: bulk.refused + outcomes.length - changed,
      next_page_at: new Date(clock.now()),
      ...(last === undefined ? {} : { cursor: { opened: new Date(last.opened_at), incident_id: last.incident_id } }),
      ...(isDone ? { state: 'done', finished_at: new Date(clock.now()) } : {}),
    })
    if (isDone) logger.info({ bulk_id: bulk._id, project_id: bulk.project_id }, 'incidents.bulk_done')
  }
  async function changePages(isStopping: () => boolean): Promise<void> {
    for (;;) {
      const due = isStopping() ? undefined : await bulks.due(new Date(clock.now()))
      if (due === undefined) return
      await changePage(due)
    }
  }
  async function beginForDeletions(): Promise<void> {
    for (const { id, projectId } of await bulks.deletedConnections(bulkIdOfConnection)) {
      await bulks.begin(closingBulk(id, projectId, clock.now()))
    }
  }
  const onFailure = (error: unknown) => logger.warn({ error }, 'incidents.bulk_deferred')
  return {
    async begin(command) {
      await bulks.begin(newBulk(command, clock.now()))
      return 'begun'
    },
    timers: [
      createPeriodic({ clock, pauseMs: LOOK_EVERY_MS, run: changePages, onFailure }),
      createPeriodic({ clock, pauseMs: LOOK_FOR_DELETIONS_EVERY_MS, run: beginForDeletions, onFailure }),
    ],
  }
}

type NewBulk = Omit<Extract<Command, { kind: 'change_incidents' }>, 'kind' | 'command_id'>

function newBulk(
  { bulk_id, project_id, selection, change, actor, requested_at }: NewBulk,
  now: number,
): IncidentBulkDocument {
  return {
    _id: bulk_id,
    project_id,
    selection,
    change,
    actor,
    state: 'running',
    changed: 0,
    refused: 0,
    cursor: null,
    version: 1,
    next_page_at: new Date(now),
    requested_at: new Date(requested_at),
    finished_at: null,
  }
}

function bulkIdOfConnection(connectionId: string): string {
  return deterministicId('incidentBulk', 'connection_deleted', connectionId)
}

/** Resolves the incidents of a deleted connection. */
function closingBulk(connectionId: string, projectId: string, now: number): IncidentBulkDocument {
  return newBulk(
    {
      bulk_id: bulkIdOfConnection(connectionId),
      project_id: projectId,
      requested_at: isoTime(now),
      selection: { connection_id: connectionId, states: ['open', 'acknowledged'], to: isoTime(now + 1) },
      change: { kind: 'resolve', reason: 'connection_deleted', note: null },
      actor: { kind: 'backstop', id: 'backstop', name: 'Backstop' },
    },
    now,
  )
}

/** Empty if the selection does not contain the incident. An incident that this bulk change has changed is contained. */
function commandFor(
  { _id, project_id, selection, change, actor }: IncidentBulkDocument,
  incident: StoredIncident,
  now: number,
): ChangeIncident[] {
  const { incident_id, state, changes = [] } = incident
  const command_id = deterministicId('command', _id, incident_id)
  const isDone = changes.some(entry => entry.command_id === command_id)
  if (!isDone && selection.states?.includes(state) === false) return []
  if (!isDone && change.kind === 'reopen' && hasEndedByItself(incident)) return []
  return [{ kind: 'change_incident', command_id, project_id, requested_at: isoTime(now), incident_id, change, actor }]
}
