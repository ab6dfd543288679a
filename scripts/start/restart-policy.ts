/** Decides whether a service or a part of the stack that ended unexpectedly is restarted. Pure. */

export interface Exit {
  /** Milliseconds since the epoch. */
  atMs: number
  code: number | null
  signal: string | null
  /** The port on which the process could not listen, because another process uses it. */
  portInUse?: number | undefined
}

export type RestartDecision =
  | { kind: 'restart'; delayMs: number; reason: string }
  /** A restart does not help. `remedy` is a sentence in the imperative. */
  | { kind: 'stay_down'; reason: string; remedy: string }

/** sysexits(3) EX_CONFIG: the exit code of a service with invalid settings. */
const EXIT_CONFIG = 78
const WINDOW_MS = 120_000
const MAX_EXITS = 5
/** The pause between two attempts to start on a port that another process uses. That process may end at any time. */
const PORT_RETRY_MS = 5_000

/**
 * @param exits all unexpected exits so far, in order. The decision is about the last exit.
 */
export function decideRestart(exits: readonly Exit[], nowMs: number): RestartDecision {
  const last = exits.at(-1)
  if (last?.portInUse !== undefined) {
    return { kind: 'restart', delayMs: PORT_RETRY_MS, reason: `port ${last.portInUse} is in use by another process` }
  }
  if (last?.code === EXIT_CONFIG) {
    return { kind: 'stay_down', reason: 'its settings are invalid', remedy: 'Correct them, then start again' }
  }
  // A port that is in use says nothing about the program.
  const recent = exits.filter(exit => exit.portInUse === undefined && exit.atMs > nowMs - WINDOW_MS).length
  if (recent > MAX_EXITS) {
    const reason = `it ended ${recent} times within ${WINDOW_MS / 60_000} minutes`
    return { kind: 'stay_down', reason, remedy: 'Look into its log, then start again' }
  }
  return { kind: 'restart', delayMs: 250 * 2 ** (recent - 1), reason: describeExit(last) }
}

/** Describes the end of a process for people. */
export function describeExit(exit: Omit<Exit, 'atMs'> | undefined): string {
  if (exit === undefined) return 'ended'
  if (exit.portInUse !== undefined) return `ended because port ${exit.portInUse} is in use by another process`
  return exit.signal === null ? `ended with exit code ${exit.code}` : `was ended by ${exit.signal}`
}
