import { isDeepStrictEqual } from 'node:util'
import { newId } from '@backstop/contracts'
import { AppError } from '@backstop/kit'
import type { Case } from '../case/case.ts'
import type { DecisionContext } from '../case/decision-context.ts'
import type { LookFacts } from '../case/whom-to-ask.ts'
import { decide, whyRefused } from '../decision/decide.ts'
import { evictOld } from '../decision/evict.ts'
import { mergeCases } from '../decision/merge.ts'
import type { CaseChange } from '../store/store.ts'
import { changedRecords, type Listing, stampChanged } from '../verdict/projection.ts'
import type { Touch } from './work-item.ts'

interface OpenCase {
  theCase: Case
  /** The case as it was read, or undefined for one that is new. */
  readonly stored: Case | undefined
  readonly replacedCases: { id: string; version: number }[]
  isChanged: boolean
  /** An input of the batch's own changed nothing. */
  isRepeated: boolean
}

/**
 * The cases of one batch while it is decided: each input finds its case by reference, several inputs of one batch
 * that touch the same case build on each other, and the batch writes each case once.
 */
export class Workspace {
  readonly #byRef = new Map<string, OpenCase>()
  readonly #context: DecisionContext

  constructor(cases: readonly Case[], context: DecisionContext) {
    this.#context = context
    for (const theCase of cases) {
      // Its version is that of the write to come, so that what it causes carries the version it will be stored with.
      this.#hold({
        theCase: { ...theCase, version: theCase.version + 1 },
        stored: theCase,
        replacedCases: [],
        isChanged: false,
        isRepeated: false,
      })
    }
  }

  #hold(held: OpenCase): void {
    for (const ref of held.theCase.refs) this.#byRef.set(ref, held)
  }

  /**
   * Lets a touch change its case; a look at what is no longer there changes nothing.
   * @throws AppError `message_invalid` where the case can take no more records
   */
  apply(touch: Touch, facts: LookFacts): void {
    const { now } = this.#context
    const held = this.#find(touch)
    if (held === undefined) return
    const input = touch.input(facts)
    if (whyRefused(held.theCase, input, now) !== null) {
      // A week later there may be room.
      held.theCase = evictOld(held.theCase, held.stored, now)
      if (whyRefused(held.theCase, input, now) !== null) throw full(held.theCase)
    }
    const next = decide(held.theCase, input, this.#context)
    // Decisions share what they leave as it is, so this looks into little.
    if (isDeepStrictEqual(next, held.theCase)) {
      if (!isLoaded(touch)) held.isRepeated = true
      return
    }
    held.theCase = next
    held.isChanged = true
    this.#hold(held)
  }

  /** The case that holds any of the references, merged into one where several do. */
  #find(touch: Touch): OpenCase | undefined {
    const [first, ...others] = new Set(touch.refs.flatMap(ref => this.#byRef.get(ref) ?? []))
    if (first === undefined) return makesCase(touch) ? this.#create(touch) : undefined
    return others.reduce((held, other) => this.#merge(held, other), first)
  }

  #create(touch: Touch): OpenCase {
    const theCase: Case = {
      id: newId('case'),
      projectId: touch.projectId,
      version: 1,
      refs: [...touch.refs],
      actions: [],
      merged: [],
      evicted: [],
      refundTotals: [],
      subscriptions: [],
      operations: [],
      followedOperations: [],
      expectedChanges: [],
      outbox: [],
      createdAt: this.#context.now,
    }
    const held: OpenCase = { theCase, stored: undefined, replacedCases: [], isChanged: true, isRepeated: false }
    this.#hold(held)
    return held
  }

  #merge(a: OpenCase, b: OpenCase): OpenCase {
    const { winner, merged } = mergeCases(a.theCase, b.theCase, this.#context.now)
    const [kept, other] = winner === a.theCase ? [a, b] : [b, a]
    const replacedCases = other.stored === undefined ? [] : [{ id: other.stored.id, version: other.stored.version }]
    const held: OpenCase = {
      theCase: merged,
      stored: kept.stored,
      replacedCases: [...kept.replacedCases, ...other.replacedCases, ...replacedCases],
      isChanged: true,
      isRepeated: kept.isRepeated || other.isRepeated,
    }
    this.#hold(held)
    return held
  }

  /** The case that a touch went to. */
  idOf(touch: Touch): string | undefined {
    return touch.refs.map(ref => this.#byRef.get(ref)?.theCase.id).find(id => id !== undefined)
  }

  /** What became of every case of the batch. */
  outcomes(): Outcome[] {
    return [...new Set(this.#byRef.values())].map(held => {
      const { theCase, stored, isChanged, isRepeated } = held
      if (stored !== undefined && !isChanged) {
        return { theCase: stored, before: stored, change: undefined, listing: isRepeated ? stored : NOTHING }
      }
      const next = evictOld(stampChanged(theCase, stored), stored, this.#context.now)
      const change = changeOf({ ...held, theCase: next })
      return { theCase: next, before: stored, change, listing: isRepeated ? next : changedRecords(next) }
    })
  }
}

/** Whether a touch makes a case where none has its references. */
function makesCase({ kind }: Touch): boolean {
  return kind === 'fact' || kind === 'loaded_fact'
}

/** Whether no message asked for a touch, so that it is no repeat of one. */
function isLoaded({ kind }: Touch): boolean {
  return kind === 'loaded_fact' || kind === 'loaded_news'
}

/** The work loop parks what meets it, and goes on with the rest. */
function full({ actions }: Case): AppError {
  const what = `${actions.at(-1)?.subject} has more refunds and cancellations than can be kept`
  return new AppError('message_invalid', `${what}; stop what creates them, then send this message again`)
}

const NOTHING: Listing = { actions: [], merged: [] }

/** A case at the end of a batch. */
export interface Outcome {
  /** As it is stored, or will be once the change is written. */
  readonly theCase: Case
  /** As it was read; undefined for one that is new. */
  readonly before: Case | undefined
  /** What there is to write; undefined where nothing changed. */
  readonly change: CaseChange | undefined
  /**
   * What is to be listed: what changed. All of it where an input changed nothing, because that may be the repeat of one that
   * was saved just before a crash, whose listings were lost; what others did to the case since then does not show.
   */
  readonly listing: Listing
}

function changeOf({ theCase, stored, replacedCases }: OpenCase): CaseChange {
  const before = new Set(stored?.outbox.map(entry => entry.id))
  const added = theCase.outbox.filter(entry => !before.has(entry.id))
  return { next: theCase, before: stored, added, replacedCases }
}
