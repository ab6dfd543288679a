import { ApiProblem } from '@backstop/client'

const LOST: readonly unknown[] = ['precondition_failed', 'incident_state', 'illegal_transition']

/** True if somebody else changed the resource first, so that the write was refused. */
export function isLostRace(error: unknown): boolean {
  return error instanceof ApiProblem && LOST.includes(error.code)
}

interface Versioned {
  readonly version: number
}

/**
 * The version that a form changes: the one that it began with, and after a lost race the one that was shown beside it.
 * @param error that of the last attempt to save
 */
export function versionToSave(base: Versioned, stored: Versioned, error: Error | null): number {
  return isLostRace(error) ? stored.version : base.version
}
