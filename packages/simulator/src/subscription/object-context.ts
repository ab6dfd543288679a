import type { Chance } from '../chance.ts'

/** What every new object of the subscription biller needs. */
export interface Making {
  readonly chance: Chance
  /** Milliseconds since the epoch. */
  readonly nowMs: number
  /** Orders the states of one object; it grows with every change. Milliseconds since the epoch, or a little more. */
  readonly version: number
}

/** Unix time in seconds, as objects carry their times. */
export function secondsOf(ms: number): number {
  return Math.floor(ms / 1000)
}

/** An id with a prefix, e.g. `txn_16BthSM04GsW8lyy`. */
export function makeId(prefix: string, { chance }: Making): string {
  return `${prefix}_16B${chance.text(13)}`
}

/** The fields with which every object says how new it is. */
export function versionOf({ nowMs, version }: Making): { resource_version: number; updated_at: number } {
  return { resource_version: version, updated_at: secondsOf(nowMs) }
}
