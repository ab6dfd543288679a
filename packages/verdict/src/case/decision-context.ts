/** The settings that decisions depend on. */
export interface Rules {
  /** Milliseconds between the first record of an unexplained action and its second look. */
  readonly recheckDelayMs: number
}

/** The canaries, each with the time since which it has the role, in milliseconds since the epoch. */
export type Canaries = ReadonlyMap<string, number>

/** The settings and the time that all decisions of a batch share. */
export interface DecisionContext extends Rules {
  /** Milliseconds since the epoch. */
  readonly now: number
  /** Absent means none. */
  readonly canaries?: Canaries
}
