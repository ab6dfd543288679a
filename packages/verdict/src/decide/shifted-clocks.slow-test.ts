/**
 * Processes with different clocks decide the steps of one case. The clocks differ by at most the offset that Backstop
 * tolerates without a warning. The verdicts must match the model, which has no clocks, given the alerts that were sent;
 * and no alert may be earlier than the two clocks involved allow. The verdicts are not compared with a run on equal
 * clocks, because the clock may decide whether an operation is reported before or after the alert.
 */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { contextAt, emptyCase, look, lookFacts, MINUTE, secondLooks, T0 } from '../../test/fixtures.ts'
import { modelFactsOf, modelledVerdicts, verdictsIn } from '../../test/modelled-verdicts.ts'
import { type Delivery, deliveriesOf, type RandomWorld, worlds } from '../../test/random-world.ts'
import { propertySettings } from '../../test/searches.ts'
import { type Case, withAll } from '../case/case.ts'
import { pendingLooks } from '../case/looks.ts'
import { expectedChangesAbout, mayNeedExpectedChange } from '../explain/cover-actions.ts'
import { decide, type Input } from './decide.ts'

const RUNS = 400
/** A process warns about a larger offset (packages/kit/src/clock/judge-offsets.ts). */
const TOLERATED_MS = 2_000
/** How long a look that was early by the clock of the deciding process waits. */
const ROUND_MS = 300

/** The clock offsets of the processes that run the next steps, in milliseconds; 0 for further steps. */
interface Shifts {
  /** Offsets of the processes that run the delay line. */
  readonly lineMs: readonly number[]
  /** Offsets of the processes that decide. */
  readonly deciderMs: readonly number[]
}

interface Played {
  readonly theCase: Case
  /**
   * The time from the first sight of its action to the opening of each incident, in milliseconds by a correct clock.
   */
  readonly openedAfterMs: readonly number[]
}

/** Plays a delivery with all looks and answers, until nothing is pending. */
function playWithShifts(world: RandomWorld, { arrivals, looksLateMs, askings }: Delivery, shifts: Shifts): Played {
  const facts = lookFacts(world.connections)
  const [outcomes, lineMs, deciderMs] = [[...askings], [...shifts.lineMs], [...shifts.deciderMs]]
  const answers: { at: number; input: Input }[] = []
  const waitedSince = new Map<string, number>()
  /**
   * When the delay line delivers each look. The offset depends on the process that holds the look, so it is drawn once
   * per round.
   */
  const handedOut = new Map<string, number>()
  const openedAfterMs: number[] = []
  let theCase = emptyCase()
  let now = T0

  const step = (input: Input, at: number) => {
    now = Math.max(now, at)
    const asked = theCase.outbox.length
    const open = new Set(openIncidents(theCase).map(({ id }) => id))
    theCase = decide(theCase, input, contextAt(now + (deciderMs.shift() ?? 0)))
    // A refund that only a total proves becomes an action at the look at that total, so the time counts from the total.
    const lookedSince = input.kind === 'second_look' ? waitedSince.get(input.lookId) : undefined
    for (const { id, firstSeenAt } of openIncidents(theCase)) {
      if (!open.has(id)) openedAfterMs.push(now - Math.min(firstSeenAt, lookedSince ?? now))
    }
    for (const { lookId } of secondLooks(theCase)) waitedSince.set(lookId, waitedSince.get(lookId) ?? now)
    for (const { topic, message } of theCase.outbox.slice(asked)) {
      if (topic !== 'rereads') continue
      const { look_id, due_at } = (message as { look: { look_id: string; due_at: string } }).look
      const outcome = outcomes.shift() ?? 'read'
      const waiting = { lookId: look_id, dueAt: Date.parse(due_at) }
      if (outcome !== 'lost') answers.push({ at: now + 20_000, input: look(waiting, facts, outcome) })
    }
  }
  const announce = (refs: readonly string[], at: number) => {
    const expectedChanges = expectedChangesAbout(world.expectedChanges, refs)
    if (expectedChanges.length > 0) step({ kind: 'expected_changes', expectedChanges }, at)
  }
  const nextLook = () =>
    pendingLooks(theCase)
      .filter(({ kind }) => kind !== 'operation')
      .map(pending => {
        const { lookId, dueAt, wakeAt } = pending
        const isOfLine = (pending.kind === 'action' || pending.kind === 'refund_total') && pending.askedAt === null
        const key = isOfLine ? `${lookId} ${dueAt}` : `${pending.kind} ${lookId} ${wakeAt}`
        const at = handedOut.get(key) ?? (isOfLine ? dueAt - (lineMs.shift() ?? 0) : wakeAt)
        handedOut.set(key, at)
        return { at: at + looksLateMs, input: look(pending, facts), key }
      })
      .concat(answers.map(answer => ({ ...answer, key: '' })))
      .sort((a, b) => a.at - b.at)[0]
  const lookUntil = (until: number) => {
    for (let next = nextLook(); next !== undefined && next.at <= until; next = nextLook()) {
      const answer = answers.findIndex(({ input }) => input === next?.input)
      if (answer >= 0) answers.splice(answer, 1)
      else handedOut.set(next.key, next.at - looksLateMs + ROUND_MS)
      announce(theCase.refs, next.at)
      step(next.input, next.at)
    }
  }
  for (const { at, input } of arrivals) {
    lookUntil(at)
    const refs = withAll(theCase.refs, refsOf(input))
    if (mayNeedExpectedChange(theCase) && refs.length > theCase.refs.length) announce(refs, at)
    step(input, at)
  }
  lookUntil(Infinity)
  return { theCase, openedAfterMs }
}

function refsOf(input: Input): readonly string[] {
  if (input.kind === 'sighting') return input.sighting.refs
  return input.kind === 'operation' ? input.operation.refs : []
}

/** The open incidents. They are compared by their own ids, because a merge moves an incident to another action. */
function openIncidents({ actions }: Case): readonly { readonly id: string; readonly firstSeenAt: number }[] {
  return actions.flatMap(({ incidents, firstSeenAt }) =>
    incidents.flatMap(({ id, state }) => (state === 'open' ? [{ id, firstSeenAt }] : [])),
  )
}

const cases = worlds.chain(world => deliveriesOf(world).map(delivery => ({ world, delivery })))
const upTo = (ms: number) => fc.array(fc.integer({ min: -ms, max: ms }), { minLength: 5, maxLength: 40 })

const shiftsOfClocks = fc.record({ lineMs: upTo(TOLERATED_MS), deciderMs: upTo(TOLERATED_MS) })

/** The number of alerts in all cases. */
let opened = 0
const property = fc.property(cases, shiftsOfClocks, ({ world, delivery }, shifts) => {
  const { theCase, openedAfterMs } = playWithShifts(world, delivery, shifts)
  expect(verdictsIn(theCase)).toEqual(modelledVerdicts(modelFactsOf(world), theCase))
  for (const afterMs of openedAfterMs) expect(afterMs).toBeGreaterThanOrEqual(MINUTE - 2 * TOLERATED_MS)
  opened += openedAfterMs.length
})

// No retry: it would use another seed, and the failing seed would be lost.
test('clocks that differ by 2 s do not change the verdicts and make no alert more than 4 s early', { retry: 0 }, () => {
  fc.assert(property, propertySettings(RUNS))
  expect(opened).toBeGreaterThan(RUNS / 10)
})
