import { type Action, type Incident, isoTime } from '@backstop/contracts'
import { type ActionRecord, type IncidentRecord, isJudged, openIncident } from '../case/action-record.ts'
import type { Case, MergedRecord } from '../case/case.ts'
import { summaryOf } from './summary.ts'
import { candidatesOf, indexOperations, type OperationIndex, usedUpRemark, whyOf } from './why.ts'

/** The action as lists, alerts and the API show it. */
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
    timeline: [...action.timeline],
    version,
  }
}

/**
 * What the collection most likely has of an action or incident. absent: it is new. outdated: it changed now. current: nothing
 * changed it, and a crash may have prevented its listing.
 */
export type ListingState = 'absent' | 'outdated' | 'current'

/** An action as it is listed; one that turned out to be another's leads on to that one. */
export interface ProjectedAction {
  readonly action: Action
  readonly mergedInto: string | null
  readonly listing: ListingState
  /** Its verdict, reason or operation is another than before. */
  readonly isDecided: boolean
}

export interface ProjectedIncident extends Pick<ProjectedAction, 'listing'> {
  readonly incident: Incident
}

/** Records of a case, to be listed. */
export type Listing = Pick<Case, 'actions' | 'merged'>

/**
 * The case with its version on each record that is listed otherwise than before: those that changed, which decisions never
 * do in place, and those that operations which came or changed do not explain.
 * @param before the case as it was read; undefined for one that is new
 */
export function stampChanged(theCase: Case, before: Case | undefined): Case {
  const known = new Set<ActionRecord | MergedRecord>(before?.actions)
  for (const one of before?.merged ?? []) known.add(one)
  const hasOtherWhy = hasOtherReasons(theCase, before)
  const stamp = (record: ActionRecord): ActionRecord => ({ ...record, changedIn: theCase.version })
  const isListed = (record: ActionRecord) => known.has(record) && !hasOtherWhy(record)
  return {
    ...theCase,
    actions: mapChanged(theCase.actions, isListed, stamp),
    merged: mapChanged(
      theCase.merged,
      one => known.has(one),
      one => ({ ...one, record: stamp(one.record) }),
    ),
  }
}

/** The list with what is not to be kept changed; the list itself where all is kept. */
function mapChanged<T>(list: readonly T[], isKept: (item: T) => boolean, change: (item: T) => T): readonly T[] {
  return list.every(isKept) ? list : list.map(item => (isKept(item) ? item : change(item)))
}

/** Whether other reasons than before are given for a record that no operation explains. */
function hasOtherReasons(theCase: Case, before: Case | undefined): (record: ActionRecord) => boolean {
  if (before === undefined) return () => false
  const hasOtherActions = before.actions !== theCase.actions
  const ofOperations =
    hasOtherActions || before.operations !== theCase.operations ? hasOtherCandidates(theCase, before) : () => false
  const mayHaveOtherRemark = hasOtherActions || before.expectedChanges !== theCase.expectedChanges
  return record =>
    record.verdict !== 'explained' &&
    isJudged(record) &&
    (ofOperations(record) || (mayHaveOtherRemark && usedUpRemark(theCase, record) !== usedUpRemark(before, record)))
}

/** Whether other operations than before are named as not explaining a record, or for other reasons. */
function hasOtherCandidates(theCase: Case, before: Case): (record: ActionRecord) => boolean {
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

/** What the case's last change altered. */
export function changedRecords({ actions, merged, version }: Case): Listing {
  return {
    actions: actions.filter(({ changedIn }) => changedIn === version),
    merged: merged.filter(({ record }) => record.changedIn === version),
  }
}

/**
 * What a case shows of its actions.
 * @param before the case as it was read; left out for one that is new
 * @param listing those to be listed; all when left out
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
      listing: known === undefined && mergedInto === null ? 'absent' : listingOf(theCase, record, before),
      isDecided: mergedInto === null && !hasSameVerdict(record, known),
    }
  }
  return [...actions.map(action => project(action, null)), ...merged.map(({ record, into }) => project(record, into))]
}

function listingOf(theCase: Case, record: ActionRecord, before: Case | undefined): ListingState {
  return theCase === before || record.changedIn < theCase.version ? 'current' : 'outdated'
}

function hasSameVerdict(a: ActionRecord, b: ActionRecord | undefined): boolean {
  return a.verdict === b?.verdict && a.reason === b.reason && a.operationId === b.operationId
}

/** What a case shows of its incidents, as `projectActions` does of its actions. */
export function projectIncidents(
  theCase: Case,
  before?: Case | undefined,
  { actions }: Pick<Listing, 'actions'> = theCase,
): readonly ProjectedIncident[] {
  return actions.flatMap(action =>
    action.incidents.map(incident => ({
      incident: { ...projectIncident(theCase, action, incident), version: action.changedIn },
      listing: listingOf(theCase, action, before),
    })),
  )
}

/** The incident of an action as lists, alerts and the API show it. */
export function projectIncident(theCase: Case, action: ActionRecord, incident: IncidentRecord): Incident {
  return {
    incident_id: incident.id,
    project_id: theCase.projectId,
    connection_id: incident.connectionId,
    code: incident.code,
    state: incident.state,
    summary: summaryOf(action, incident),
    action_id: action.id,
    out_of_band: incident.outOfBand,
    opened_at: isoTime(incident.openedAt),
    resolved_at: incident.resolvedAt === null ? null : isoTime(incident.resolvedAt),
    resolved_by: incident.resolvedBy,
    version: theCase.version,
  }
}
