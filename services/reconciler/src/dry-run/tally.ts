import type { ActionRecord } from '../case/action-record.ts'
import { type ComparedAction, type VerdictDifference, wasAlerted } from './compare.ts'
import type { History } from './history.ts'

/** Why an event of the window was not replayed. */
export type NotReplayed =
  /** It led to no action, and its body is no longer kept, so today's rules cannot read it. */
  | 'body_gone'
  /** A hint that was held, because its connection cannot be read. */
  | 'hint_held'
  /** It was ignored, and is a hint by today's rules, so the provider would have to be asked. */
  | 'hint_now'
  /** Malformed by today's rules. */
  | 'refused'

/** The result of a dry run. */
export interface DryRunSummary {
  readonly actions: {
    readonly compared: number
    readonly same: number
    readonly different: number
    /** Actions whose second look is still to come, or was due in the last minutes. */
    readonly undecided: number
    /** The compared actions, by the data that was replayed. */
    readonly by_basis: Readonly<Record<History['basis'], number>>
  }
  /** The compared actions that alerted as unexplained. */
  readonly alerted: { readonly stored: number; readonly now: number }
  /** Verdicts that changed, the most frequent change first. */
  readonly changes: readonly { readonly from: string; readonly to: string; readonly count: number }[]
  /** Payments and subscriptions on which the rules failed, because of a fault in the rules or in the stored data. */
  readonly failed: { readonly count: number; readonly first: { readonly id: string; readonly error: string } | null }
  readonly events: {
    readonly in_window: number
    /** Events that lead to no action, then and now. */
    readonly still_ignored: number
    readonly not_replayed: Readonly<Record<NotReplayed, number>>
  }
}

/** Counts the results of a dry run. */
export class Tally {
  readonly #byBasis: Record<History['basis'], number> = { events: 0, reading: 0, expired: 0 }
  readonly #notReplayed: Record<NotReplayed, number> = { body_gone: 0, hint_held: 0, hint_now: 0, refused: 0 }
  readonly #alerted = { stored: 0, now: 0 }
  readonly #changes = new Map<string, { from: string; to: string; count: number }>()
  #failed: DryRunSummary['failed'] = { count: 0, first: null }
  #different = 0
  #undecided = 0
  #events = 0
  #stillIgnored = 0

  compared({ stored, now }: ComparedAction, basis: History['basis'], difference: VerdictDifference | undefined): void {
    this.#byBasis[basis]++
    if (isAlerted(stored)) this.#alerted.stored++
    if (isAlerted(now)) this.#alerted.now++
    if (difference === undefined) return
    this.#different++
    const [from, to] = [nameOf(difference.stored), nameOf(difference.now)]
    const change = this.#changes.get(`${from}\n${to}`) ?? { from, to, count: 0 }
    this.#changes.set(`${from}\n${to}`, { ...change, count: change.count + 1 })
  }

  failed(id: string, error: unknown): void {
    const { count, first } = this.#failed
    const told = error instanceof Error ? (error.stack ?? error.message) : String(error)
    this.#failed = { count: count + 1, first: first ?? { id, error: told } }
  }

  undecided(): void {
    this.#undecided++
  }

  events(count: number): void {
    this.#events += count
  }

  stillIgnored(): void {
    this.#stillIgnored++
  }

  notReplayed(why: NotReplayed): void {
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
function nameOf(said: VerdictDifference['stored']): string {
  if (said === null) return 'not seen'
  const { verdict, reason, alerted } = said
  return `${verdict} (${reason})${alerted && verdict !== 'unexplained' ? ', alerted first' : ''}`
}
