/** Whether a service that died by itself is started again: pure. */

export interface Exit {
  /** Milliseconds since the epoch. */
  atMs: number
  code: number | null
  signal: string | null
}

export type RestartDecision =
  | { kind: 'restart'; delayMs: number; reason: string }
  | { kind: 'give_up'; reason: 'configuration_fault' | 'died_too_often' }

/** sysexits(3) EX_CONFIG: what a service exits with when its settings are wrong; no restart mends that. */
const EXIT_CONFIG = 78
const WINDOW_MS = 120_000
const MOST_EXITS = 5

/**
 * @param exits every exit of this service so far that nobody asked for, the one to decide about last
 */
export function decideRestart(exits: readonly Exit[], nowMs: number): RestartDecision {
  const last = exits.at(-1)
  if (last?.code === EXIT_CONFIG) return { kind: 'give_up', reason: 'configuration_fault' }
  const recent = exits.filter(exit => exit.atMs > nowMs - WINDOW_MS).length
  if (recent > MOST_EXITS) return { kind: 'give_up', reason: 'died_too_often' }
  return { kind: 'restart', delayMs: 250 * 2 ** (recent - 1), reason: describeExit(last) }
}

/** How a process ended, for a person. */
export function describeExit(exit: Pick<Exit, 'code' | 'signal'> | undefined): string {
  if (exit === undefined) return 'ended'
  return exit.signal === null ? `ended with exit code ${exit.code}` : `was ended by ${exit.signal}`
}
