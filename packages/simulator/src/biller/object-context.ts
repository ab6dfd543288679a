import type { Chance } from '../chance.ts'

/** The values that every new object of the subscription biller needs. */
export interface ObjectContext {
  readonly chance: Chance
  /** Milliseconds since the epoch. */
  readonly nowMs: number
  /** The version that orders the states of an object. It is about milliseconds since the epoch and grows with every change. */
  readonly version: number
}

/** Unix time in seconds, as in objects. */
export function secondsOf(ms: number): number {
  return Math.floor(ms / 1000)
}

/** An id with a prefix, e.g. `txn_16BthSM04GsW8lyy`. */
export function makeId(prefix: string, { chance }: ObjectContext): string {
  return `${prefix}_16B${chance.text(13)}`
}

/** The version fields of every object. */
export function versionOf({ nowMs, version }: ObjectContext): { resource_version: number; updated_at: number } {
  return { resource_version: version, updated_at: secondsOf(nowMs) }
}
