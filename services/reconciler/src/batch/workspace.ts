import { isDeepStrictEqual } from 'node:util'
import { newOrderedId } from '@backstop/contracts'
import { AppError } from '@backstop/kit/errors'
import {
  type ActionRecord,
  type Case,
  changedRecords,
  type DecisionContext,
  decide,
  evictOld,
  type Input,
  type Listing,
  type LookFacts,
  mergeCases,
  noteEarlierDays,
  stampChanged,
  stampTrace,
  versionName,
  whyRefused,
} from '@backstop/verdict'
import type { CaseChange } from '../cases/case-store.ts'
import type { CaseInput, InputWithoutFacts } from './work-item.ts'

interface OpenCase {
  theCase: Case
  /** The case as it was loaded; undefined for a new case. */
  readonly stored: Case | undefined
  readonly replacedCases: { id: string; version: number }[]
  isChanged: boolean
  /** True if an input of this batch changed nothing. */
  isRepeated: boolean
  /** The span of the last input that changed the case; undefined if it has none. */
  traceparent?: string | undefined
}

/**
 * The cases of one batch while it is decided. Each input finds its case by reference. Several inputs for one case are
 * applied one after another, and the batch writes each case once.
 */
export class Workspace {
  readonly #byRef = new Map<string, OpenCase>()
  readonly #context: DecisionContext
  readonly #loaded: readonly Case[]
  #stored: ReadonlyMap<string, ActionRecord> | undefined
  /** The versions of operations that came from the ledger and changed a case. */
  readonly #readOperations = new Set<string>()

  constructor(cases: readonly Case[], context: DecisionContext) {
    this.#context = context
    this.#loaded = cases
    for (const theCase of cases) {
      // The version of the coming write, so that messages of the case carry the version that is stored.
      this.#indexByRefs({
        theCase: { ...theCase, version: theCase.version + 1 },
        stored: theCase,
        replacedCases: [],
        isChanged: false,
        isRepeated: false,
      })
    }
  }

  /** True for the message of an operation that this round has read from the ledger and applied. */
  #isReadAlready(input: Input): boolean {
    return input.kind === 'operation' && this.#readOperations.has(versionName(input.operation))
  }

  #indexByRefs(held: OpenCase): void {
    for (const ref of held.theCase.refs) this.#byRef.set(ref, held)
  }

  /**
   * Applies an input to its case. A look at a case that does not exist changes nothing.
   * @throws AppError `message_invalid` if the case is full
   */
  apply(caseInput: CaseInput, facts: LookFacts): void {
    const { now } = this.#context
    const held = this.#findOrCreate(caseInput)
    if (held === undefined) return
    const input = withFacts(caseInput.input, facts)
    if (whyRefused(held.theCase, input, now) !== null) {
      // Records that are a week old can be evicted. If their personal data is erased first, the next batch evicts them,
      // so this input is accepted.
      const before = held.theCase
      held.theCase = evictOld(before, held.stored, now)
      if (held.theCase === before) throw caseFullError(before)
    }
    const next = decide(held.theCase, input, this.#context)
    // Unchanged parts are the same objects before and after, so this comparison is cheap.
    if (isDeepStrictEqual(next, held.theCase)) {
      if (!caseInput.isLoaded && !this.#isReadAlready(input)) held.isRepeated = true
      return
    }
    if (caseInput.isLoaded && input.kind === 'operation') this.#readOperations.add(versionName(input.operation))
    const { traceparent } = caseInput
    held.theCase = traceparent === undefined ? next : stampTrace(next, held.theCase, traceparent, now)
    held.traceparent = traceparent
    held.isChanged = true
    this.#indexByRefs(held)
  }

  /** The case that holds any of the references. If several cases do, they are merged. */
  #findOrCreate(caseInput: CaseInput): OpenCase | undefined {
    const held: OpenCase[] = []
    for (const ref of caseInput.refs) {
      const found = this.#byRef.get(ref)
      if (found !== undefined && !held.includes(found)) held.push(found)
    }
    const [first, ...others] = held
    if (first === undefined) return caseInput.mayCreate ? this.#create(caseInput) : undefined
    return others.reduce((held, other) => this.#merge(held, other), first)
  }

  #create(caseInput: CaseInput): OpenCase {
    const theCase: Case = {
      id: newOrderedId('case', this.#context.now),
      projectId: caseInput.projectId,
      version: 1,
      refs: [...caseInput.refs],
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
    this.#indexByRefs(held)
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
    this.#indexByRefs(held)
    return held
  }

  idOf(caseInput: CaseInput): string | undefined {
    return caseInput.refs.map(ref => this.#byRef.get(ref)?.theCase.id).find(id => id !== undefined)
  }

  /** Notes in changed records for which days they were counted before, also if their case was merged into another one. */
  #withEarlierDays(theCase: Case): Case {
    const note = (record: ActionRecord) =>
      record.changedIn === theCase.version ? noteEarlierDays(record, this.#storedRecords().get(record.id)) : record
    return {
      ...theCase,
      actions: theCase.actions.map(note),
      merged: theCase.merged.map(merged => ({ ...merged, record: note(merged.record) })),
    }
  }

  #storedRecords(): ReadonlyMap<string, ActionRecord> {
    this.#stored ??= new Map(
      this.#loaded
        .flatMap(({ actions, merged }) => [...actions, ...merged.map(({ record }) => record)])
        .map(record => [record.id, record]),
    )
    return this.#stored
  }

  /** The result for every case of the batch. */
  results(): CaseResult[] {
    return [...new Set(this.#byRef.values())].map(held => {
      const { theCase, stored, isChanged, isRepeated, traceparent } = held
      if (stored !== undefined && !isChanged) {
        return { theCase: stored, before: stored, change: undefined, listing: isRepeated ? stored : NO_RECORDS }
      }
      const stamped = this.#withEarlierDays(stampChanged(theCase, stored))
      // After a repeat all records are listed again, because a crash may have prevented it. None is evicted unlisted.
      const next = isRepeated ? stamped : evictOld(stamped, stored, this.#context.now)
      const change = changeOf({ ...held, theCase: next })
      return { theCase: next, before: stored, change, listing: isRepeated ? next : changedRecords(next), traceparent }
    })
  }
}

function withFacts(input: InputWithoutFacts, facts: LookFacts): Input {
  return input.kind === 'second_look' ? { ...input, facts } : input
}

/** The work loop dead-letters the message and continues with the others. */
function caseFullError({ actions }: Case): AppError {
  const what = `${actions.at(-1)?.subject} has more refunds and cancellations than can be kept`
  return new AppError('message_invalid', `${what}; stop what creates them, then send this message again`)
}

const NO_RECORDS: Listing = { actions: [], merged: [] }

/** A case at the end of a batch. */
export interface CaseResult {
  /** As it is stored, or will be once `change` is written. */
  readonly theCase: Case
  /** As it was loaded; undefined for a new case. */
  readonly before: Case | undefined
  /** The write to do; undefined if nothing changed. */
  readonly change: CaseChange | undefined
  /**
   * The records to list again: usually the changed ones. If an input changed nothing, all records are listed, because
   * the input may be a repeat of one that was saved just before a crash, before its records were listed.
   */
  readonly listing: Listing
  /** The span of the last input that changed the case; undefined if it has none. */
  readonly traceparent?: string | undefined
}

function changeOf({ theCase, stored, replacedCases }: OpenCase): CaseChange {
  const before = new Set(stored?.outbox.map(entry => entry.id))
  const added = theCase.outbox.filter(entry => !before.has(entry.id))
  return { next: theCase, before: stored, added, replacedCases }
}
