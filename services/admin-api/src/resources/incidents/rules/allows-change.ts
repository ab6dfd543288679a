import { hasEndedByItself, type IncidentDocument, IncidentState, type LifeCycleChange } from '@backstop/contracts'

/** The states in which the reconciler allows a change. */
export const STATES_BEFORE: Record<LifeCycleChange['kind'], readonly IncidentDocument['state'][]> = {
  acknowledge: ['open'],
  resolve: ['open', 'acknowledged'],
  reopen: ['resolved'],
  assign: IncidentState.options,
  comment: IncidentState.options,
}

/** True if a change of several incidents includes this one. The reconciler decides each. */
export function allowsChange(
  incident: Pick<IncidentDocument, 'state' | 'reason'>,
  kind: LifeCycleChange['kind'],
): boolean {
  return STATES_BEFORE[kind].includes(incident.state) && !(kind === 'reopen' && hasEndedByItself(incident))
}
