/** The settings that decisions depend on. */
export interface Rules {
  /** Milliseconds between the first record of an unexplained action and its second look. */
  readonly recheckDelayMs: number
}

/** What every decision of a batch shares. */
export interface DecisionContext extends Rules {
  /** Milliseconds since the epoch. */
  readonly now: number
}
