import type { ShownAction } from '@backstop/contracts'
import { type AccountTruth, type Deed, isExplained, OLDER_THAN_ITS_CONNECTION } from '../../actors/truth.ts'
import { type Case, nameOf } from '../evidence.ts'
import type { Property } from '../property.ts'

/** What the lists of the management API show. */
export const RECORD_PROPERTIES: readonly Property[] = [
  { name: 'one-action-for-each-change', promise: 'one-verdict-one-alert', check: findActionFaults },
  { name: 'lists-agree-with-alerts', promise: 'every-channel', check: findDisagreements },
  { name: 'changes-of-incidents-are-listed', promise: 'incident-changes', check: findLostChanges },
  { name: 'accepted-events-are-recorded', promise: 'stored-before-2xx', check: findLostEvents },
  { name: 'unusable-events-are-dead-lettered', promise: 'dead-letters', check: findSwallowed },
  { name: 'budgets-hold', promise: 'budgets', check: findBudgetFaults },
  { name: 'reports-are-recorded-once', promise: 'client', check: findReportFaults },
  { name: 'lists-stay-in-their-project', promise: 'projects-are-apart', check: findForeignRecords },
  { name: 'complete-periods-miss-nothing', promise: 'completeness', check: findMissedChanges },
]

const JUDGED = ['refund', 'cancellation']
/** Operations explain both refunds of the first one, and a canary is reported whether or not something explains what it did. */
const ABOUT_EXPLAINED = ['REFUNDED_TWICE', 'CANARY_USED']

function findActionFaults({ evidence, truth }: Case): string[] {
  const ofPeople = new Set(truth.interventions.filter(({ kind }) => kind === 'resolve').map(one => one.incidentId))
  return truth.deeds
    .filter(({ mustAlert }) => mustAlert)
    .flatMap(deed => {
      const found = actionsOf({ evidence }, deed)
      const name = `${deed.title} (${deed.ref})`
      if (found.length === 0 && !mayBeHidden(deed)) return [`${name} is not in the list of actions`]
      if (found.length > 1) return [`${name} has the actions ${found.map(({ action_id }) => action_id).join(', ')}`]
      return found.flatMap(({ verdict, incident_id, provider_ref }) => {
        if (verdict === 'pending') return [`${name} has no verdict`]
        // Of a change at two accounts, the other account's action may be listed. An expected change explains open incidents only.
        // What only a total proves is explained by its amount later than a run lasts. A deleted connection has no open incidents.
        const isUnnamed = provider_ref === null && mayBeHidden(deed)
        const isOfDeleted = deed.grounds.some(({ reason }) => reason === OLDER_THAN_ITS_CONNECTION)
        const mayStay = deed.accounts.length > 1 || isUnnamed || isOfDeleted || ofPeople.has(incident_id ?? '')
        const isBehind = isExplained(deed) && verdict === 'unexplained' && !mayStay
        return isBehind ? [`${name} is explained, and its verdict is ${verdict}`] : []
      })
    })
}

/** A change of a period that is stated as complete is listed, and has a verdict. */
function findMissedChanges({ evidence, truth }: Case): string[] {
  return truth.deeds
    .filter(({ hasVerdict }) => hasVerdict)
    .filter(deed => deed.accounts.some(account => isStatedComplete(evidence, account, deed.atMs)))
    .filter(deed => !actionsOf({ evidence }, deed).some(({ verdict }) => verdict !== 'pending'))
    .map(({ title, ref }) => `${title} (${ref}) is not judged, and its period is stated as complete`)
}

function isStatedComplete({ projects }: Case['evidence'], { projectId, kind }: AccountTruth, atMs: number): boolean {
  const stated = projects.find(lists => lists.projectId === projectId)?.completeness.connections ?? []
  return stated
    .filter(({ provider, answer }) => provider === kind && ['complete', 'complete_so_far'].includes(answer))
    .some(one => Date.parse(one.watched_from) <= atMs && atMs < Date.parse(one.complete_until ?? ''))
}

/** Whether the product may never have heard of a change. */
function mayBeHidden({ grounds, accounts }: Deed): boolean {
  return [...grounds, ...accounts.flatMap(account => account.grounds)].some(({ mayHide }) => mayHide)
}

/** The listed actions with the names of a change. */
export function actionsOf({ evidence }: Pick<Case, 'evidence'>, { projectId, names }: Deed): ShownAction[] {
  const listed = evidence.projects.find(lists => lists.projectId === projectId)?.actions ?? []
  return listed.filter(action => JUDGED.includes(action.kind) && names.includes(nameOf(action)))
}

/** Each alert about an incident is in the list, in the state of its last alert, and each verdict agrees with its incident. */
function findDisagreements({ alerts, evidence }: Case): string[] {
  return evidence.projects.flatMap(({ projectId, incidents, actions }) => {
    const known = new Map(incidents.map(incident => [incident.incident_id, incident]))
    const unknown = alerts
      .filter(({ body }) => body.project_id === projectId && body.event.startsWith('incident.'))
      .filter(({ body }) => !known.has(body.data.incident?.incident_id ?? ''))
      .map(({ body }) => `The incident ${body.data.incident?.incident_id} of an alert is not in the list`)
    const open = new Set(incidents.filter(({ state }) => state !== 'resolved').map(({ incident_id }) => incident_id))
    const resolved = alerts
      .filter(({ body }) => body.event === 'incident.resolved' && open.has(body.data.incident?.incident_id ?? ''))
      .filter(
        ({ body }) =>
          (body.data.incident?.reopened ?? 0) === known.get(body.data.incident?.incident_id ?? '')?.reopened,
      )
      .map(
        ({ body }) =>
          `The incident ${body.data.incident?.incident_id} was reported as resolved, and the list says it is open`,
      )
    const verdicts = actions
      .filter(({ verdict, incident_id }) => verdict === 'explained' && open.has(incident_id ?? ''))
      .filter(({ incident_id }) => !ABOUT_EXPLAINED.includes(known.get(incident_id ?? '')?.code ?? ''))
      .map(
        ({ action_id, incident_id }) => `The action ${action_id} is explained, and its incident ${incident_id} is open`,
      )
    return [...unknown, ...resolved, ...verdicts]
  })
}

/** An incident that a person has acknowledged or resolved is listed as such. */
function findLostChanges({ truth, evidence }: Case): string[] {
  const incidents = new Map(
    evidence.projects.flatMap(({ incidents }) => incidents.map(incident => [incident.incident_id, incident] as const)),
  )
  return truth.interventions
    .filter(({ kind, at }) => kind !== 'comment' && at.toMs !== undefined)
    .flatMap(({ incidentId, kind }) => {
      const { state, reopened = 0 } = incidents.get(incidentId) ?? {}
      const isKept = state === 'resolved' || (kind === 'acknowledge' && state === 'acknowledged') || reopened > 0
      return isKept ? [] : [`A person's change (${kind}) of ${incidentId} was confirmed, and the list says ${state}`]
    })
}

/** A notification that was answered with success is in the inbox, and was decided. */
function findLostEvents({ truth, evidence }: Case): string[] {
  const entries = new Map(
    evidence.projects.flatMap(({ inbox }) => inbox.map(entry => [entry.inbox_id, entry] as const)),
  )
  return truth.accepted.flatMap(({ connectionId, eventId }) => {
    const entry = entries.get(`${connectionId}/${eventId}`)
    if (entry === undefined)
      return [`The notification ${eventId} was accepted, and is not in the inbox of ${connectionId}`]
    return entry.outcome === 'parked' && !truth.unusable.includes(eventId)
      ? [`The notification ${eventId} could not be used: ${entry.reason}`]
      : []
  })
}

/** A notification that cannot be used is listed with its outcome, and a dead letter has its bytes. */
function findSwallowed({ truth, evidence }: Case): string[] {
  const letters = evidence.stored.filter(({ place }) => place === 'inbound.dead')
  const entries = evidence.projects.flatMap(({ inbox }) => inbox)
  return truth.accepted
    .filter(({ eventId }) => truth.unusable.includes(eventId))
    .flatMap(({ connectionId, eventId }) => {
      const entry = entries.find(({ inbox_id }) => inbox_id === `${connectionId}/${eventId}`)
      if (entry?.outcome !== 'parked') return [`The unusable notification ${eventId} is ${entry?.outcome}`]
      return letters.some(({ text }) => text.includes(eventId))
        ? []
        : [`The notification ${eventId} has no dead letter`]
    })
}

/** A budget grants as many operations of one amount as fit, and shows what they reserve. */
function findBudgetFaults({ truth, evidence }: Case): string[] {
  const shown = new Map(
    evidence.projects.flatMap(({ budgets }) => budgets.map(budget => [budget.budget_id, budget] as const)),
  )
  return truth.budgets.flatMap(({ budgetId, cap, amount, granted, refused, open }) => {
    const fit = Math.floor(cap / amount)
    if (granted > fit) return [`The budget ${budgetId} granted ${granted} operations, and only ${fit} fit`]
    if (open > 0) return []
    if (refused > 0 && granted < fit)
      return [`The budget ${budgetId} refused an operation, and ${fit - granted} more fit`]
    const reserved = shown.get(budgetId)?.current.reserved
    return reserved === granted * amount
      ? []
      : [`The budget ${budgetId} shows ${reserved} as reserved for ${granted} of ${amount}`]
  })
}

/** An operation for each report that the API confirmed, in a state that is not before the reported one; and no other. */
function findReportFaults({ truth, evidence }: Case): string[] {
  const operations = new Map(
    evidence.projects.flatMap(({ operations }) =>
      operations.map(operation => [operation.operation_id, operation] as const),
    ),
  )
  const reported = new Set(truth.reports.map(({ operationId }) => operationId))
  const lost = truth.reports.flatMap(({ operationId, state, providerRef }) => {
    const operation = operations.get(operationId)
    if (operation === undefined) return [`The operation ${operationId} was confirmed, and is not in the list`]
    if (providerRef !== undefined && operation.provider_ref !== providerRef)
      return [`The operation ${operationId} was confirmed with the id ${providerRef} and has ${operation.provider_ref}`]
    const isBehind = ['completed', 'failed'].includes(state) && operation.state !== state
    return isBehind ? [`The operation ${operationId} was reported as ${state} and is ${operation.state}`] : []
  })
  const invented = truth.unconfirmedReports > 0 ? [] : [...operations.keys()].filter(id => !reported.has(id))
  return [...lost, ...invented.map(id => `The operation ${id} was not reported`)]
}

/** Numbers such as CN-204 are unique in one account only; longer ids are unique among all. */
const LEAST_UNIQUE_LENGTH = 12

/** No record of a project names anything of another project. */
function findForeignRecords({ evidence: { projects }, truth }: Case): string[] {
  return projects.flatMap(({ projectId, ...lists }) => {
    const text = JSON.stringify(lists)
    const foreign = projects.filter(other => other.projectId !== projectId && text.includes(other.projectId))
    const named = truth.deeds.filter(deed => deed.projectId !== projectId && isUnique(deed) && text.includes(deed.ref))
    return [
      ...foreign.map(other => `The lists of ${projectId} name the project ${other.projectId}`),
      ...named.map(({ ref }) => `The lists of ${projectId} show ${ref} of another project`),
    ]
  })
}

function isUnique({ ref }: Deed): boolean {
  return ref.length >= LEAST_UNIQUE_LENGTH
}
