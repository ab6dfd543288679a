import type { Clock } from './clock/clock.ts'
import type { Logger } from './logger.ts'

/** Limits log lines per second for each kind of line, so that neither many events nor a flood of refusals fills the disk. */
export interface LogBudget {
  readonly secondStartMs: number
  /** Lines of the current second, written or not. */
  readonly count: number
  /** Lines that were not written since the last written one. */
  readonly unwritten: number
}

export type LogVerdict =
  | { readonly kind: 'write'; readonly unwritten: number; readonly budget: LogBudget }
  | { readonly kind: 'skip'; readonly budget: LogBudget }

/** Decides whether one more line is written. @param budget undefined for the first line of its kind */
export function takeLine(budget: LogBudget | undefined, linesPerSecond: number, nowMs: number): LogVerdict {
  // A clock that was set back starts a new second, too.
  const isSameSecond = budget !== undefined && Math.abs(nowMs - budget.secondStartMs) < 1_000
  const secondStartMs = isSameSecond ? budget.secondStartMs : nowMs
  const count = isSameSecond ? budget.count + 1 : 1
  const unwritten = budget?.unwritten ?? 0
  if (count > linesPerSecond) return { kind: 'skip', budget: { secondStartMs, count, unwritten: unwritten + 1 } }
  return { kind: 'write', unwritten, budget: { secondStartMs, count, unwritten: 0 } }
}

/** Log lines per second of each kind. With LOG_LEVEL=debug every line is written. */
const LINES_PER_S = 100

/** Limits the log lines of each kind, by a budget of their own. */
export class LogLimit {
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #budgets = new Map<string, LogBudget>()

  constructor({ clock, logger }: { readonly clock: Clock; readonly logger: Logger }) {
    this.#clock = clock
    this.#logger = logger
  }

  /**
   * @param kind one of a bounded set
   * @returns how many lines of the kind were not written before this one; undefined if this one must not be written either
   */
  take(kind: string): number | undefined {
    if (this.#logger.isLevelEnabled('debug')) return 0
    const verdict = takeLine(this.#budgets.get(kind), LINES_PER_S, this.#clock.now())
    this.#budgets.set(kind, verdict.budget)
    return verdict.kind === 'write' ? verdict.unwritten : undefined
  }
}
