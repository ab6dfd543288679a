import { isLostRace } from '../../parts/is-lost-race.ts'

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
