import { ApiProblem } from '@backstop/client'

/** True if somebody else changed the resource first, so that the write was refused. */
export function isLostRace(error: unknown): boolean {
  return (
    error instanceof ApiProblem &&
    (error.code === 'precondition_failed' || error.code === 'incident_state' || error.code === 'illegal_transition')
  )
}
