import { type Action, type Incident, isoTime, type StoredIncident, type TimelineEntry } from '@backstop/contracts'
import { type ActionRecord, type LookResult, lastResultOf, needsVerdict, openIncident } from '../case/action-record.ts'
import type { Case, MergedRecord } from '../case/case.ts'
import { actorOfDetails, showDetails } from '../case/details.ts'
import type { IncidentRecord } from '../case/incident-record.ts'
import { detailsOf } from '../case/sides.ts'
import { describeWait } from '../explain/awaited-operation.ts'
import { summaryOf } from '../explain/summary.ts'
import { candidatesOf, indexOperations, type OperationIndex, usedUpRemark, whyOf } from '../explain/why.ts'
import { showChanges, showProgress } from './show-progress.ts'

/** The action as shown in lists, alerts and the API. */
export function projectAction(theCase: Case, action: ActionRecord): Action {
  return showAction(theCase, action, indexOperations(theCase), theCase.version)
}

function showAction(theCase: Case, action: ActionRecord, index: OperationIndex, version: number): Action {
  return {
    action_id: action.id,
    project_id: theCase.projectId,
    connection_id: action.seenThrough[0]?.id ?? '',
    connection_ids: action.seenThrough.map(connection => connection.id),
    provider: action.provider,
    kind: action.kind,
    subject: action.subject,
    provider_ref: action.providerRef,
    amount: action.amount,
    currency: action.currency,
    state: action.state,
    ...(action.isRelease ? { authorization_released: true } : {}),
    ...(action.subscriptionContinues === undefined ? {} : { subscription_continues: action.subscriptionContinues }),
    provider_created_at: isoTime(action.providerCreatedAt),
    first_seen_at: isoTime(action.firstSeenAt),
    second_look_at: action.look === null ? null : isoTime(action.look.dueAt),
    verdict: action.verdict,
    reason: action.reason,
    operation_id: action.operationId,
    why: whyOf(theCase, action, index),
    ...(action.differences.length > 0 ? { differences: [...action.differences] } : {}),
    incident_id: (openIncident(action) ?? action.incidents.at(-1))?.id ?? null,
    event_ids: [...action.eventIds],
    ...showDetails(detailsOf(action)),
    timeline: timelineOf(action),
    version,
  }
}

/** The entries of the action, and the changes of its incidents. */
function timelineOf({ timeline, incidents }: ActionRecord): TimelineEntry[] {
  const changes = showChanges(incidents.map(({ lifeCycle }) => lifeCycle))
  if (changes.length === 0) return [...timeline]
  return [...timeline, ...changes].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
}

/**
 * The probable state of an action or incident in its collection. absent: it is new. outdated: it changed now. current:
 * it did not change, but a crash may have prevented its last write.
 */
export type ListingState = 'absent' | 'outdated' | 'current'

/** An action as it is listed. `mergedInto` is the id of the action that it turned out to be part of. */
export interface ProjectedAction {
  readonly action: Action
  readonly mergedInto: string | null
  /** The result of its last finished second look; undefined if there was none. */
  readonly lookResult: LookResult | undefined
  readonly listing: ListingState
  /** True if its verdict, reason or operation changed. */
  readonly isDecided: boolean
}

export interface ProjectedIncident extends Pick<ProjectedAction, 'listing'> {
  readonly incident: StoredIncident
}

/** The records of a case to list. */
export type Listing = Pick<Case, 'actions' | 'merged'>

/**
 * Stamps the case's version on each record whose listing changes: changed records, and unexplained records whose
 * candidate operations changed. Decisions never change a record in place, so a new object is a changed record.
 * @param before the case as it was loaded; undefined for a new case
 */
export function stampChanged(theCase: Case, before: Case | undefined): Case {
  const known = new Set<ActionRecord | MergedRecord>(before?.actions)
  for (const merged of before?.merged ?? []) known.add(merged)
  const hasOtherWhy = reasonsChanged(theCase, before)
  const stamp = (record: ActionRecord): ActionRecord => ({ ...record, changedIn: theCase.version })
  const isListed = (record: ActionRecord) => known.has(record) && !hasOtherWhy(record)
  return {
    ...theCase,
    actions: mapUnlessKept(theCase.actions, isListed, stamp),
    merged: mapUnlessKept(
      theCase.merged,
      merged => known.has(merged),
      merged => ({ ...merged, record: stamp(merged.record) }),
    ),
  }
}

/** Applies `change` to the items that are not kept. Returns the same list if all are kept. */
function mapUnlessKept<T>(list: readonly T[], isKept: (item: T) => boolean, change: (item: T) => T): readonly T[] {
  return list.every(isKept) ? list : list.map(item => (isKept(item) ? item : change(item)))
}

/** Tells for a record that no operation explains whether its stated reasons changed. */
function reasonsChanged(theCase: Case, before: Case | undefined): (record: ActionRecord) => boolean {
  if (before === undefined) return () => false
  const hasOtherActions = before.actions !== theCase.actions
  const mayHaveOtherCandidates = hasOtherActions || before.operations !== theCase.operations
  // Compared at the first record that needs it. Usually no record does.
  let compared: ReturnType<typeof candidatesChanged> | undefined
  const ofOperations = (record: ActionRecord) => {
    compared ??= mayHaveOtherCandidates ? candidatesChanged(theCase, before) : () => false
    return compared(record)
  }
  const mayHaveOtherRemark = hasOtherActions || before.expectedChanges !== theCase.expectedChanges
  return record =>
    record.verdict !== 'explained' &&
    needsVerdict(record) &&
    (ofOperations(record) || (mayHaveOtherRemark && usedUpRemark(theCase, record) !== usedUpRemark(before, record)))
}

/** Tells for a record whether its candidate operations, or the reasons why they do not fit, changed. */
function candidatesChanged(theCase: Case, before: Case): (record: ActionRecord) => boolean {
  const [index, indexBefore] = [indexOperations(theCase), indexOperations(before)]
  const [explaining, explainedBefore] = [index.explaining(), indexBefore.explaining()]
  const moved = new Set(
    [...explaining, ...explainedBefore].filter(id => explaining.has(id) !== explainedBefore.has(id)),
  )
  if (before.operations === theCase.operations && moved.size === 0) return () => false
  return record => {
    const [now, then] = [candidatesOf(theCase, record, index), candidatesOf(before, record, indexBefore)]
    return (
      now.length !== then.length ||
      now.some(({ operation, name }, at) => operation !== then[at]?.operation || moved.has(name))
    )
  }
}

/** The records that the last change of the case altered. */
export function changedRecords({ actions, merged, version }: Case): Listing {
  return {
    actions: actions.filter(({ changedIn }) => changedIn === version),
    merged: merged.filter(({ record }) => record.changedIn === version),
  }
}

/**
 * The projections of a case's actions.
 * @param before the case as it was loaded; undefined for a new case
 * @param listing the records to project; all if left out
 */
export function projectActions(
  theCase: Case,
  before?: Case | undefined,
  { actions, merged }: Listing = theCase,
): readonly ProjectedAction[] {
  if (actions.length === 0 && merged.length === 0) return []
  const knownById = new Map(before?.actions.map(action => [action.id, action]))
  const index = indexOperations(theCase)
  const project = (record: ActionRecord, mergedInto: string | null): ProjectedAction => {
    const known = knownById.get(record.id)
    return {
      action: showAction(theCase, record, index, record.changedIn),
      mergedInto,
      lookResult: lastResultOf(record.look),
      listing: known === undefined && mergedInto === null ? 'absent' : listingOf(theCase, record, before),
      isDecided: mergedInto === null && !hasSameVerdict(record, known),
    }
  }
  return [...actions.map(action => project(action, null)), ...merged.map(({ record, into }) => project(record, into))]
}

function listingOf(theCase: Case, record: ActionRecord, before: Case | undefined): ListingState {
  return theCase === before || record.changedIn < theCase.version ? 'current' : 'outdated'
}

/** The actions whose verdict was pending before. */
export function endedWaits(theCase: Case, before: Case | undefined): ActionRecord[] {
  const waiting = new Set(before?.actions.flatMap(({ id, verdict }) => (verdict === 'pending' ? [id] : [])))
  return theCase.actions.filter(({ id, verdict }) => verdict !== 'pending' && waiting.has(id))
}

function hasSameVerdict(a: ActionRecord, b: ActionRecord | undefined): boolean {
  return a.verdict === b?.verdict && a.reason === b.reason && a.operationId === b.operationId
}

/** The projections of a case's incidents, like `projectActions`. */
export function projectIncidents(
  theCase: Case,
  before?: Case | undefined,
  { actions }: Pick<Listing, 'actions'> = theCase,
): readonly ProjectedIncident[] {
  return actions.flatMap(action => {
    const account = detailsOf(action)?.account?.[0]
    return action.incidents.map(incident => ({
      incident: {
        ...projectIncident(theCase, action, incident),
        ...(account === undefined ? {} : { account }),
        version: action.changedIn,
        ...(incident.lifeCycle === undefined ? {} : { changes: incident.lifeCycle.changes }),
        ...(incident.traceId === undefined ? {} : { trace_id: incident.traceId }),
      },
      listing: listingOf(theCase, action, before),
    }))
  })
}

/** An incident of an action, as shown in lists, alerts and the API. */
export function projectIncident(theCase: Case, action: ActionRecord, incident: IncidentRecord): Incident {
  return {
    incident_id: incident.id,
    project_id: theCase.projectId,
    connection_id: incident.connectionId,
    code: incident.code,
    summary: summaryOf(action, incident, describeWait(theCase, action)?.text),
    action_id: action.id,
    ...actorOfDetails(detailsOf(action)),
    ...(incident.code === 'REFUNDED_TWICE' ? { refunded_twice: incident.refundedTwice } : {}),
    out_of_band: incident.outOfBand,
    opened_at: isoTime(incident.openedAt),
    provider_created_at: isoTime(action.providerCreatedAt),
    ...showProgress(incident),
    version: theCase.version,
  }
}
