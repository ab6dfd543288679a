import type { ShownAction } from '@backstop/contracts'
import { type Deed, isExplained, OLDER_THAN_ITS_CONNECTION } from '../../actors/truth.ts'
import { type Case, nameOf } from '../evidence.ts'
import type { Property } from '../property.ts'

/** What the lists of actions and incidents show. */
export const RECORD_PROPERTIES: readonly Property[] = [
  { name: 'one-action-for-each-change', promise: 'one-verdict-one-alert', check: findActionFaults },
  { name: 'lists-agree-with-alerts', promise: 'every-channel', check: findDisagreements },
  { name: 'changes-of-incidents-are-listed', promise: 'incident-changes', check: findLostChanges },
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
