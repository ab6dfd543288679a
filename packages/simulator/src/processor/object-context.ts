import type { Chance } from '../chance.ts'

/** The API version of the simulated objects. It is the version of the `stripe` package in this workspace. */
export const API_VERSION = '2026-10-28.endive'

/** The values that every new object of the card processor needs. */
export interface ObjectContext {
  readonly chance: Chance
  /** Unix time in seconds, as in the processor's objects. */
  readonly created: number
  readonly livemode: boolean
}
