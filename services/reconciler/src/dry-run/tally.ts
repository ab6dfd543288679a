import type { DryRunBasis, DryRunSummary, NotReplayed, VerdictDifference } from '@backstop/contracts'
import type { ActionRecord } from '@backstop/verdict'
import { type ComparedAction, wasAlerted } from './compare.ts'

/** Counts the results of a dry run. */
export class DryRunTally {
  readonly #byBasis: Record<DryRunBasis, number> = { events: 0, reading: 0, expired: 0 }
  readonly #notReplayed: Record<NotReplayed, number> = { body_gone: 0, hint_held: 0, hint_now: 0, refused: 0 }
  readonly #alerted = { stored: 0, now: 0 }
  readonly #changes = new Map<string, { from: string; to: string; count: number }>()
  #failed: DryRunSummary['failed'] = { count: 0, first: null }
  #different = 0
  #undecided = 0
  #events = 0
  #stillIgnored = 0

  countCompared({ stored, now }: ComparedAction, basis: DryRunBasis, difference: VerdictDifference | undefined): void {
    this.#byBasis[basis]++
    if (isAlerted(stored)) this.#alerted.stored++
    if (isAlerted(now)) this.#alerted.now++
    if (difference === undefined) return
    this.#different++
    const [from, to] = [verdictText(difference.stored), verdictText(difference.now)]
    const change = this.#changes.get(`${from}\n${to}`) ?? { from, to, count: 0 }
    this.#changes.set(`${from}\n${to}`, { ...change, count: change.count + 1 })
  }

  countFailed(id: string, error: unknown): void {
    const { count, first } = this.#failed
    const told = error instanceof Error ? (error.stack ?? error.message) : String(error)
    this.#failed = { count: count + 1, first: first ?? { id, error: told } }
  }

  countUndecided(): void {
    this.#undecided++
  }

  countEvents(count: number): void {
    this.#events += count
  }

  countStillIgnored(): void {
    this.#stillIgnored++
  }

  countNotReplayed(why: NotReplayed): void {
    this.#notReplayed[why]++
  }

  summary(): DryRunSummary {
    const compared = Object.values(this.#byBasis).reduce((sum, count) => sum + count, 0)
    return {
      actions: {
        compared,
        same: compared - this.#different,
        different: this.#different,
        undecided: this.#undecided,
        by_basis: { ...this.#byBasis },
      },
      alerted: { ...this.#alerted },
      failed: this.#failed,
      changes: [...this.#changes.values()].sort((a, b) => b.count - a.count),
      events: {
        in_window: this.#events,
        still_ignored: this.#stillIgnored,
        not_replayed: { ...this.#notReplayed },
      },
    }
  }
}

function isAlerted(action: ActionRecord | undefined): boolean {
  return action !== undefined && wasAlerted(action)
}

/** A text for a verdict, without the details of one action, to group equal changes. */
function verdictText(said: VerdictDifference['stored']): string {
  if (said === null) return 'not seen'
  const { verdict, reason, alerted } = said
  return `${verdict} (${reason})${alerted && verdict !== 'unexplained' ? ', alerted first' : ''}`
}
