/**
 * Assignments that people were alerted about are kept: an action alerts once, and a match by amount and time does not
 * resolve an alert that could be sent again.
 */

import { describe, expect, test } from 'vitest'
import {
  alertsOf,
  decideAgain,
  emptyCase,
  hasOpenAlert,
  lookAll,
  MINUTE,
  onlyAction,
  operationSeen,
  PROJECT,
  play,
  refundSeen,
  SECOND,
  T0,
  totalSeen,
  unexpectedActionIncident,
} from '../../test/fixtures.ts'
import type { Case } from '../case/case.ts'
import type { ExpectedChange } from '../case/expected-change.ts'
import { pendingLooks } from '../case/looks.ts'
import type { Input } from '../decide/decide.ts'
import { mergeCases } from '../decide/merge.ts'
import { projectAction, projectIncidents } from '../show/projection.ts'
import { whyOf } from './why.ts'

const iso = (ms: number) => new Date(ms).toISOString()
const at = (ms: number, input: Input) => ({ at: ms, input })
const incidentsOf = (theCase: Case) => theCase.actions.map(({ incidents }) => incidents.map(({ state }) => state))
const verdicts = (theCase: Case) =>
  Object.fromEntries(
    theCase.actions.map(({ providerRef, verdict, operationId }) => [providerRef, [verdict, operationId]]),
  )

const BEGAN = T0 + 2 * MINUTE
/** Our own operation. It has the amount of the stranger's refund, which alerted a minute before the operation began. */
const ours = (facts: Parameters<typeof operationSeen>[0] = {}) =>
  operationSeen({ executing_at: iso(BEGAN), ended_at: iso(BEGAN + SECOND), ...facts })
const executing = ours({ state: 'executing', ended_at: null })
const own = refundSeen({ id: 're_own', createdAt: BEGAN })
const alerted = lookAll(play([at(T0, refundSeen({ id: 're_stranger' }))]))

describe("a stranger's refund has alerted, and an equal operation is reported", () => {
  test('stays open while the operation executes, and never alerts again when its own refund arrives', () => {
    const running = play([at(BEGAN, executing)], alerted)
    expect(incidentsOf(running)).toEqual([['open']])
    const named = play(
      [at(BEGAN + MINUTE, ours({ version: 2, provider_ref: 're_own' })), at(BEGAN + 2 * MINUTE, own)],
      running,
    )
    expect(verdicts(lookAll(named))).toEqual({
      re_stranger: ['unexplained', null],
      re_own: ['explained', 'op_1'],
    })
    expect(alertsOf(lookAll(named))).toEqual(['incident.opened'])
    expect(pendingLooks(lookAll(named))).toEqual([])
  })

  test('stays open after the operation ended, while its own refund may still arrive', () => {
    const ended = play([at(BEGAN + 5 * MINUTE, ours())], alerted)
    expect(incidentsOf(ended)).toEqual([['open']])
    const arrived = play([at(BEGAN + 6 * MINUTE, own)], ended)
    expect(verdicts(arrived)).toEqual({ re_stranger: ['unexplained', null], re_own: ['explained', 'op_1'] })
    expect(alertsOf(decideAgain(arrived))).toEqual(['incident.opened'])
  })

  test('resolves when its own refund can no longer arrive, at that exact time', () => {
    const ended = play([at(BEGAN + 5 * MINUTE, ours())], alerted)
    const [due] = pendingLooks(ended).filter(({ kind }) => kind === 'decision')
    expect(due).toMatchObject({ dueAt: BEGAN + SECOND + 15 * MINUTE, wakeAt: BEGAN + SECOND + 15 * MINUTE })
    const resolved = decideAgain(ended)
    expect(unexpectedActionIncident(onlyAction(resolved))).toMatchObject({
      state: 'resolved',
      resolvedBy: 'op_1',
      resolvedAt: BEGAN + SECOND + 15 * MINUTE,
    })
    expect(pendingLooks(resolved)).toEqual([])
  })

  test('resolves a day after the operation began if its end is not reported', () => {
    const running = play([at(BEGAN, executing)], alerted)
    expect(unexpectedActionIncident(onlyAction(decideAgain(running)))).toMatchObject({
      state: 'resolved',
      resolvedAt: BEGAN + 24 * 60 * MINUTE,
    })
  })

  test.each([
    { name: 'names it', facts: { provider_ref: 're_stranger' }, key: undefined },
    { name: 'has its key', facts: { idempotency_key: 'k' }, key: 'k' },
  ])('resolves at once if the operation $name', ({ facts, key }) => {
    const seen = refundSeen({ id: 're_stranger', ...(key === undefined ? {} : { idempotencyKey: key }) })
    const open = lookAll(play([at(T0, seen)]))
    const resolved = play([at(BEGAN, ours({ state: 'executing', ended_at: null, ...facts }))], open)
    expect(incidentsOf(resolved)).toEqual([['resolved']])
  })

  test('says in its summary, its rule and its timeline that it waits for the end of the operation, and then for its refund', () => {
    const saidOf = (theCase: Case) => {
      const action = projectAction(theCase, onlyAction(theCase))
      const [projected] = projectIncidents(theCase)
      const entry = action.timeline.at(-1)
      return {
        rule: action.why?.rule,
        summary: projected?.incident.summary,
        entry: entry && { id: entry.id, text: entry.text },
      }
    }
    const running = play([at(BEGAN, executing)], alerted)
    const noEnd =
      'operation op_1 agrees with it, but its end is not reported; this is decided again 15 minutes after its end, or at 2026-11-22T10:02:00.000Z'
    expect(saidOf(running)).toEqual({
      rule: `Nothing explains it; ${noEnd}`,
      summary: expect.stringMatching(`, and no operation of yours explains it yet: ${noEnd}$`),
      entry: { id: 'op_1', text: `Decided again later: ${noEnd}` },
    })
    const ended = play([at(BEGAN + 5 * MINUTE, ours({ version: 2 }))], running)
    const own =
      'operation op_1 agrees with it, but its own refund may still arrive; this is decided again at 2026-11-21T10:17:01.000Z'
    expect(saidOf(ended)).toEqual({
      rule: `Nothing explains it; ${own}`,
      summary: expect.stringMatching(`, and no operation of yours explains it yet: ${own}$`),
      entry: { id: 'op_1', text: `Decided again later: ${own}` },
    })
    expect(saidOf(decideAgain(ended)).summary).toContain('is explained after all')
    const named = play([at(BEGAN + 5 * MINUTE, ours({ version: 2, provider_ref: 're_own' }))], running)
    expect(saidOf(named).rule).not.toContain('decided again')
    expect(saidOf(named).summary).toMatch(/no operation of yours explains it$/)
  })

  test('states in `why` that the operation may explain it later', () => {
    const theCase = play([at(BEGAN + 5 * MINUTE, ours())], alerted)
    expect(whyOf(theCase, onlyAction(theCase)).candidates).toEqual([
      {
        operation_id: 'op_1',
        failure: 'awaits_its_own',
        text: 'It agrees with this, but its own refund may still arrive; this is decided again at 2026-11-21T10:17:01.000Z',
      },
    ])
  })
})

describe('an assignment that people were alerted about', () => {
  const resolved = decideAgain(play([at(BEGAN + 5 * MINUTE, ours())], alerted))

  test('is kept if a late refund is nearer in time: that one alerts, and nothing reopens', () => {
    const late = lookAll(play([at(T0 + 60 * MINUTE, own)], resolved))
    expect(verdicts(late)).toEqual({ re_stranger: ['explained', 'op_1'], re_own: ['unexplained', null] })
    expect(incidentsOf(late)).toEqual([['resolved'], ['open']])
  })

  test('changes if the operation names the late refund: then the wrong resolution is corrected by an alert', () => {
    const named = play([at(T0 + 59 * MINUTE, ours({ version: 2, provider_ref: 're_own' }))], resolved)
    const late = lookAll(play([at(T0 + 60 * MINUTE, own)], named))
    expect(verdicts(late)).toEqual({ re_stranger: ['unexplained', null], re_own: ['explained', 'op_1'] })
    expect(incidentsOf(late)).toEqual([['resolved', 'open'], []])
  })

  test('is kept if another operation is reported that is nearer in time', () => {
    const nearer = operationSeen({ operation_id: 'op_2', executing_at: iso(T0), ended_at: iso(T0) })
    expect(verdicts(play([at(T0 + 60 * MINUTE, nearer)], resolved))).toEqual({ re_stranger: ['explained', 'op_1'] })
  })

  test('is kept if two cases are merged', () => {
    const other = play([at(T0 + 60 * MINUTE, own)], { ...emptyCase(), id: 'sub_other' })
    const { merged } = mergeCases(resolved, other, T0 + 60 * MINUTE)
    const judged = play(
      [at(T0 + 60 * MINUTE, refundSeen({ id: 're_own', createdAt: BEGAN }, { eventId: 'again' }))],
      merged,
    )
    expect(verdicts(lookAll(judged))).toEqual({ re_stranger: ['explained', 'op_1'], re_own: ['unexplained', null] })
  })
})

test('an expected change that resolved an alert is not replaced by an operation that agrees by amount and time only', () => {
  const expectedChange: ExpectedChange = {
    id: 'exp_1',
    projectId: PROJECT,
    connectionId: null,
    kind: 'refund',
    subject: 'pi_1',
    amount: null,
    currency: null,
    createdAt: T0,
    startsAt: T0,
    expiresAt: T0 + SECOND,
    maxChanges: 1,
    maxAmount: null,
    usedElsewhere: { changes: 0, amount: 0 },
  }
  const waiting = play([at(BEGAN + MINUTE, ours())], alerted)
  const expected = play(
    [at(BEGAN + 2 * MINUTE, { kind: 'expected_changes', expectedChanges: [expectedChange] })],
    waiting,
  )
  expect(verdicts(expected)).toEqual({ re_stranger: ['explained', null] })
  const late = lookAll(play([at(T0 + 60 * MINUTE, own)], decideAgain(expected)))
  expect(verdicts(late)).toEqual({ re_stranger: ['explained', null], re_own: ['explained', 'op_1'] })
})

describe('two equal refunds and one operation', () => {
  test('keep their assignment if the provisional one turns out to be nearer', () => {
    const total = (facts: Parameters<typeof totalSeen>[0]) => at(T0 + 12 * SECOND, totalSeen(facts))
    const provisional = lookAll(
      play([
        at(T0, operationSeen()),
        at(T0 + 10 * SECOND, refundSeen({ id: 're_1', createdAt: T0 + 10 * SECOND })),
        total({ total: 2499, before: 0, createdAt: T0 + 10 * SECOND }),
        total({ total: 4998, before: 2499, createdAt: T0 + 12 * SECOND }),
      ]),
    )
    expect(provisional.actions.map(hasOpenAlert)).toEqual([false, true])
    const known = lookAll(
      play([at(T0 + 5 * MINUTE, refundSeen({ id: 're_2', createdAt: T0 + 3 * SECOND }))], provisional),
    )
    expect(known.actions.map(hasOpenAlert)).toEqual([false, true])
    expect(alertsOf(known)).toEqual(['incident.opened'])
  })

  test('without an alert are assigned again: the nearer one gets the operation', () => {
    const far = play([at(T0, operationSeen()), at(T0, refundSeen({ id: 're_far', createdAt: T0 + 20 * SECOND }))])
    const near = play([at(T0 + 30 * SECOND, refundSeen({ id: 're_near', createdAt: T0 + SECOND }))], far)
    expect(verdicts(near)).toEqual({ re_far: ['pending', null], re_near: ['explained', 'op_1'] })
  })
})
