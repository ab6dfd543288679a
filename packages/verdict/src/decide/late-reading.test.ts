/** Alerts that were sent without the provider's answer, and the later questions to the provider. */
import { Reread } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import {
  alertsOf,
  contextAt,
  hasOpenAlert,
  look,
  lookFacts,
  MINUTE,
  onlyAction,
  operationSeen,
  play,
  policy,
  SECOND,
  secondLooks,
  T0,
  totalSeen,
} from '../../test/fixtures.ts'
import { refundShown, sightingInput } from '../../test/sightings.ts'
import type { Case } from '../case/case.ts'
import { type PendingLook, pendingLooks } from '../case/looks.ts'
import { projectAction, projectIncident } from '../show/projection.ts'
import { decide, type Input } from './decide.ts'

const HOUR = 60 * MINUTE
const readable = lookFacts([policy({ canRead: true })])
const ALERTED_AT = T0 + MINUTE + 4 * SECOND

const rereadsOf = (theCase: Case) =>
  theCase.outbox.filter(entry => entry.topic === 'rereads').map(entry => Reread.parse(entry.message))
const at = (ms: number) => new Date(T0 + ms).toISOString()
const reading = (theCase: Case) => pendingLooks(theCase).find(({ kind }) => kind === 'late_reading')

/** An alerted action: the provider was asked at the second look and did not answer. */
function alerted(input: Input = sightingInput(refundShown())): Case {
  const seen = play([{ at: T0, input }])
  const [pending] = secondLooks(seen) as [PendingLook]
  const asked = decide(seen, look(pending, readable), contextAt(T0 + MINUTE))
  return decide(asked, look(pending, readable), contextAt(ALERTED_AT))
}
const afterQuestion = (theCase: Case, at: number) =>
  decide(theCase, look(reading(theCase) as PendingLook, readable), contextAt(at))
const afterAnswer = (theCase: Case, outcome: 'read' | 'not_found' | 'unavailable', at = ALERTED_AT + MINUTE) =>
  decide(theCase, look(reading(theCase) as PendingLook, readable, outcome), contextAt(at))
const shown = (theCase: Case, state: 'failed' | 'succeeded', at = ALERTED_AT + MINUTE) =>
  play([{ at, input: sightingInput(refundShown({ state }), { eventId: null, readFor: 'second_look' }) }], theCase)

describe('the question after an alert without an answer', () => {
  test('is due after a minute, and equals the question of the second look', () => {
    const theCase = alerted()
    expect(reading(theCase)?.wakeAt).toBe(ALERTED_AT + MINUTE)
    expect(afterQuestion(theCase, ALERTED_AT + MINUTE - 1)).toEqual(theCase)
    const asked = afterQuestion(theCase, ALERTED_AT + MINUTE)
    expect(rereadsOf(asked)).toHaveLength(2)
    expect(rereadsOf(asked)[1]).toMatchObject({ reason: 'second_look', targets: [{ type: 'refund', id: 're_1' }] })
    expect(rereadsOf(asked)[1]?.answer_by).toBeUndefined()
  })

  test('is asked at growing intervals, at most nine times, without another alert', () => {
    let theCase = alerted()
    const times: number[] = []
    for (let due = reading(theCase); due !== undefined; due = reading(theCase)) {
      times.push(due.wakeAt - ALERTED_AT)
      theCase = afterQuestion(theCase, due.wakeAt)
    }
    expect(rereadsOf(theCase)).toHaveLength(9)
    const waits = times.map((at, index) => at - (times[index - 1] ?? 0)).slice(0, 8)
    expect(waits).toEqual(waits.toSorted((a, b) => a - b))
    expect(times.at(-1)).toBeLessThan(72 * HOUR)
    expect(alertsOf(theCase)).toEqual(['incident.opened'])
    expect(hasOpenAlert(onlyAction(theCase))).toBe(true)
  })

  test('stays due if the answer is unavailable', () => {
    const asked = afterQuestion(alerted(), ALERTED_AT + MINUTE)
    expect(afterAnswer(asked, 'unavailable')).toEqual(asked)
  })

  test('is not asked if the action was explained meanwhile', () => {
    const explained = play([{ at: ALERTED_AT + SECOND, input: operationSeen({ provider_ref: 're_1' }) }], alerted())
    expect(reading(explained)).toBeUndefined()
    expect(alertsOf(explained)).toEqual(['incident.opened', 'incident.resolved'])
  })

  test.each([
    { setting: 'cannot be read', facts: lookFacts([policy()]) },
    { setting: 'ignores such changes', facts: lookFacts([policy({ canRead: true, outOfBand: 'ignore' })]) },
  ])('is not asked if the connection $setting', ({ facts }) => {
    const seen = play([{ at: T0, input: sightingInput(refundShown()) }])
    const [pending] = secondLooks(seen) as [PendingLook]
    const asked = decide(seen, look(pending, facts), contextAt(T0 + MINUTE))
    expect(reading(decide(asked, look(pending, facts), contextAt(ALERTED_AT)))).toBeUndefined()
  })

  test('is also asked about the provisional refund of a total', () => {
    const theCase = alerted(totalSeen({ total: 2499, before: 0 }))
    expect(onlyAction(theCase)).toMatchObject({ providerRef: null, verdict: 'unexplained', readBack: 'unavailable' })
    expect(rereadsOf(afterQuestion(theCase, ALERTED_AT + MINUTE))[1]?.targets).toEqual([{ type: 'refund', id: 'pi_1' }])
    expect(onlyAction(afterAnswer(theCase, 'not_found')).reason).toBe('provider_denies_it')
  })
})

describe('the answer after the alert', () => {
  test('keeps the incident open if it confirms the action', () => {
    const confirmed = afterAnswer(shown(alerted(), 'succeeded'), 'read')
    expect(onlyAction(confirmed)).toMatchObject({ verdict: 'unexplained', readBack: 'confirmed' })
    expect(hasOpenAlert(onlyAction(confirmed))).toBe(true)
    expect(reading(confirmed)).toBeUndefined()
    expect(onlyAction(confirmed).timeline.at(-1)?.text).toMatch(/read after the alert, and shows it as succeeded/)
  })

  test('resolves the incident with the reason if it denies the action', () => {
    const denied = afterAnswer(alerted(), 'not_found')
    const action = onlyAction(denied)
    expect(action).toMatchObject({ verdict: 'not_alerted', reason: 'provider_denies_it', readBack: 'not_found' })
    expect(alertsOf(denied)).toEqual(['incident.opened', 'incident.resolved'])
    const [incident] = action.incidents
    expect(incident).toMatchObject({ state: 'resolved', resolvedBy: null })
    expect(projectIncident(denied, action, incident!).summary).toMatch(/did not go through: .* does not know it/)
    expect(projectAction(denied, action).why?.rule).toMatch(/does not know it/)
  })

  test('keeps the incident open if it shows a failed refund, because somebody requested that refund', () => {
    const failed = afterAnswer(shown(alerted(), 'failed'), 'read')
    expect(onlyAction(failed)).toMatchObject({ verdict: 'unexplained', readBack: 'confirmed', state: 'failed' })
    expect(alertsOf(failed)).toEqual(['incident.opened'])
  })

  test('counts if it is the late answer of the second look itself', () => {
    const theCase = alerted()
    const { id } = onlyAction(theCase)
    const late = decide(
      theCase,
      look({ lookId: id, dueAt: T0 + MINUTE }, readable, 'not_found'),
      contextAt(ALERTED_AT + SECOND),
    )
    expect(onlyAction(late).reason).toBe('provider_denies_it')
  })

  test('is not recorded if the time to decide again came first and an operation explains the action', () => {
    const similar = operationSeen({ executing_at: at(-2 * SECOND), ended_at: at(0) })
    const waiting = play([{ at: ALERTED_AT + SECOND, input: similar }], alerted())
    const decideAgainAt = onlyAction(waiting).decideAgainAt ?? 0
    expect(decideAgainAt).toBe(T0 + 15 * MINUTE)
    const explained = afterAnswer(waiting, 'not_found', decideAgainAt)
    expect(onlyAction(explained)).toMatchObject({ verdict: 'explained', reason: 'amount_and_time_match' })
    const entries = onlyAction(explained).timeline.map(({ what }) => what)
    expect(entries.slice(-2)).toEqual(['explained', 'incident_resolved'])
    expect(entries).not.toContain('read_back')
  })

  test('changes nothing if it is repeated', () => {
    const theCase = alerted()
    const pending = reading(theCase) as PendingLook
    const denied = afterAnswer(theCase, 'not_found')
    expect(decide(denied, look(pending, readable, 'not_found'), contextAt(ALERTED_AT + HOUR))).toEqual(denied)
  })

  test('that denied the action is overruled by data that shows it, after another minute', () => {
    const again = shown(afterAnswer(alerted(), 'not_found'), 'succeeded', T0 + HOUR)
    expect(onlyAction(again)).toMatchObject({ verdict: 'pending', look: { dueAt: T0 + HOUR + MINUTE, askedAt: null } })
    const [pending] = secondLooks(again) as [PendingLook]
    const judged = decide(again, look(pending, readable, 'read'), contextAt(T0 + HOUR + MINUTE))
    expect(alertsOf(judged)).toEqual(['incident.opened', 'incident.resolved', 'incident.opened'])
  })

  test('that denied the action is overruled by a signed event that arrives later, after another minute', () => {
    const denied = afterAnswer(alerted(), 'not_found')
    const later = sightingInput(refundShown({ state: 'succeeded' }), { eventId: 'evt_later' })
    const again = decide(denied, later, contextAt(T0 + HOUR))
    expect(onlyAction(again)).toMatchObject({ verdict: 'pending', look: { dueAt: T0 + HOUR + MINUTE, askedAt: null } })
  })

  test('that denied the action is kept if a known event is repeated', () => {
    const denied = afterAnswer(alerted(), 'not_found')
    expect(onlyAction(decide(denied, sightingInput(refundShown()), contextAt(T0 + HOUR))).verdict).toBe('not_alerted')
  })

  test('that denied the action in time leaves its alert open', () => {
    const seen = play([{ at: T0, input: sightingInput(refundShown()) }])
    const [pending] = secondLooks(seen) as [PendingLook]
    const asked = decide(seen, look(pending, readable), contextAt(T0 + MINUTE))
    const denied = decide(asked, look(pending, readable, 'not_found'), contextAt(T0 + MINUTE + SECOND))
    expect(onlyAction(denied)).toMatchObject({ verdict: 'unexplained', readBack: 'not_found' })
    expect(reading(denied)).toBeUndefined()
  })
})
