/** The settings that decisions depend on. */
export interface Rules {
  /** Milliseconds between the first record of an unexplained action and its second look. */
  readonly recheckDelayMs: number
}

/** The settings and the time that all decisions of a batch share. */
export interface DecisionContext extends Rules {
  /** Milliseconds since the epoch. */
  readonly now: number
}
