import type { Chance } from '../chance.ts'

/** The API version whose shapes these are: the one that the `stripe` package of this workspace is made for. */
export const API_VERSION = '2026-10-28.endive'

/** What every new object of the card processor needs. */
export interface Making {
  readonly chance: Chance
  /** Unix time in seconds, as the processor's objects carry it. */
  readonly created: number
  readonly livemode: boolean
}
