/** When unexplained actions become a storm, and when a storm ends. */
export interface StormSettings {
  /** Number of unexplained actions of one connection within `windowMs` that begins a storm. */
  readonly from: number
  readonly windowMs: number
  /** A storm ends when no action has joined it for this long. */
  readonly quietMs: number
}

/** The defaults of the settings STORM_FROM, STORM_WINDOW_MS and STORM_QUIET_MS. */
export const DEFAULT_STORM_SETTINGS: StormSettings = { from: 10, windowMs: 300_000, quietMs: 300_000 }
