import { isDeepStrictEqual } from 'node:util'
import { newId } from '@backstop/contracts'
import { AppError } from '@backstop/kit'
import type { Subject } from '../case/case.ts'
import type { LookFacts } from '../case/whom-to-ask.ts'
import { decide, type Rules, whyRefused } from '../decision/decide.ts'
import { forgetOld } from '../decision/evict.ts'
import { mergeSubjects } from '../decision/merge.ts'
import type { SubjectChange } from '../store/store.ts'
import { changedRecords, type Listing, stampChanged } from '../verdict/projection.ts'
import type { Touch } from './work-item.ts'

interface Held {
  subject: Subject
  /** The subject as it was read, or undefined for one that is new. */
  readonly stored: Subject | undefined
  readonly absorbed: { id: string; version: number }[]
  isChanged: boolean
  /** An input of the batch's own changed nothing. */
  isRepeated: boolean
}

/**
 * The subjects of one batch while it is decided: each input finds its subject by reference, several inputs of one batch
 * that touch the same subject build on each other, and the batch writes each subject once.
 */
export class Workspace {
  readonly #byRef = new Map<string, Held>()
  readonly #rules: Rules
  /** When the last input was decided. */
  #now = 0

  constructor(subjects: readonly Subject[], rules: Rules) {
    this.#rules = rules
    for (const subject of subjects) {
      // Its version is that of the write to come, so that what it causes carries the version it will be stored with.
      this.#hold({
        subject: { ...subject, version: subject.version + 1 },
        stored: subject,
        absorbed: [],
        isChanged: false,
        isRepeated: false,
      })
    }
  }

  #hold(held: Held): void {
    for (const ref of held.subject.refs) this.#byRef.set(ref, held)
  }

  /**
   * Lets a touch change its subject; a look at what is no longer there changes nothing.
   * @throws AppError `message_invalid` where the subject can take no more records
   */
  apply(touch: Touch, facts: LookFacts, now: number): void {
    this.#now = now
    const held = this.#find(touch, now)
    if (held === undefined) return
    const input = touch.input(facts)
    if (whyRefused(held.subject, input, now) !== null) {
      // A week later there may be room.
      held.subject = forgetOld(held.subject, held.stored, now)
      if (whyRefused(held.subject, input, now) !== null) throw full(held.subject)
    }
    const next = decide(held.subject, input, now, this.#rules)
    // Decisions share what they leave as it is, so this looks into little.
    if (isDeepStrictEqual(next, held.subject)) {
      if (touch.isBrought !== true) held.isRepeated = true
      return
    }
    held.subject = next
    held.isChanged = true
    this.#hold(held)
  }

  /** The subject that holds any of the references, merged into one where several do. */
  #find(touch: Touch, now: number): Held | undefined {
    const [first, ...others] = new Set(touch.refs.flatMap(ref => this.#byRef.get(ref) ?? []))
    if (first === undefined) return touch.creates ? this.#create(touch, now) : undefined
    return others.reduce((held, other) => this.#merge(held, other, now), first)
  }

  #create(touch: Touch, now: number): Held {
    const subject: Subject = {
      id: newId('subject'),
      projectId: touch.projectId,
      version: 1,
      refs: [...touch.refs],
      actions: [],
      merged: [],
      forgotten: [],
      refundTotals: [],
      subscriptions: [],
      operations: [],
      operationCases: [],
      notes: [],
      outbox: [],
      createdAt: now,
    }
    const held: Held = { subject, stored: undefined, absorbed: [], isChanged: true, isRepeated: false }
    this.#hold(held)
    return held
  }

  #merge(a: Held, b: Held, now: number): Held {
    const { winner, merged } = mergeSubjects(a.subject, b.subject, now)
    const [kept, gone] = winner === a.subject ? [a, b] : [b, a]
    const absorbed = gone.stored === undefined ? [] : [{ id: gone.stored.id, version: gone.stored.version }]
    const held: Held = {
      subject: merged,
      stored: kept.stored,
      absorbed: [...kept.absorbed, ...gone.absorbed, ...absorbed],
      isChanged: true,
      isRepeated: kept.isRepeated || gone.isRepeated,
    }
    this.#hold(held)
    return held
  }

  /** The subject that a touch went to. */
  idOf(touch: Touch): string | undefined {
    return touch.refs.map(ref => this.#byRef.get(ref)?.subject.id).find(id => id !== undefined)
  }

  /** What became of every subject of the batch. */
  outcomes(): Outcome[] {
    return [...new Set(this.#byRef.values())].map(held => {
      const { subject, stored, isChanged, isRepeated } = held
      if (stored !== undefined && !isChanged) {
        return { subject: stored, before: stored, change: undefined, listing: isRepeated ? stored : NOTHING }
      }
      const next = forgetOld(stampChanged(subject, stored), stored, this.#now)
      const change = changeOf({ ...held, subject: next })
      return { subject: next, before: stored, change, listing: isRepeated ? next : changedRecords(next) }
    })
  }
}

/** The work loop parks what meets it, and goes on with the rest. */
function full({ actions }: Subject): AppError {
  const what = `${actions.at(-1)?.subject} has more refunds and cancellations than can be kept`
  return new AppError('message_invalid', `${what}; stop what makes them, and have this one sent again`)
}

const NOTHING: Listing = { actions: [], merged: [] }

/** A subject at the end of a batch. */
export interface Outcome {
  /** As it is stored, or will be once the change is written. */
  readonly subject: Subject
  /** As it was read; undefined for one that is new. */
  readonly before: Subject | undefined
  /** What there is to write; undefined where nothing changed. */
  readonly change: SubjectChange | undefined
  /**
   * What is to be listed: what changed. All of it where an input changed nothing, because that may be the repeat of one that
   * was saved just before a crash, whose listings were lost; what others did to the subject since then does not show.
   */
  readonly listing: Listing
}

function changeOf({ subject, stored, absorbed }: Held): SubjectChange {
  const before = new Set(stored?.outbox.map(entry => entry.id))
  const added = subject.outbox.filter(entry => !before.has(entry.id))
  return { next: subject, before: stored, added, absorbed }
}
