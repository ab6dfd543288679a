/** The texts about an incident state only facts that a provider or an operation reported. */

import { describe, expect, test } from 'vitest'
import {
  contextAt,
  decideAgain,
  look,
  lookAll,
  lookFacts,
  MINUTE,
  onlyAction,
  operationSeen,
  play,
  policy,
  refundSeen,
  secondLooks,
  T0,
  unexpectedActionIncident,
} from '../../test/fixtures.ts'
import {
  endedSubscription,
  refundShown,
  scheduledCancellation,
  sightingInput,
  subscriptionShown,
  totalShown,
} from '../../test/sightings.ts'
import type { Case } from '../case/case.ts'
import { decide, type Input } from '../decide/decide.ts'
import { projectIncidents } from '../show/projection.ts'
import { whyOf } from './why.ts'

const judgedCase = (...inputs: Input[]) => lookAll(play(inputs.map(input => ({ at: T0, input }))))
const summaries = (theCase: Case) => projectIncidents(theCase).map(({ incident }) => incident.summary)
const REFUND = 'A refund of EUR 24.99 on pi_1'
const UNEXPLAINED = ', and no operation of yours explains it'

describe("the summary of an open incident states the provider's data", () => {
  test.each([
    { state: 'succeeded', says: 'was made at the provider' },
    { state: 'pending', says: 'was requested at the provider and is pending' },
    { state: 'requires_action', says: 'was requested at the provider and waits for an action there' },
    { state: 'failed', says: 'was attempted at the provider and failed' },
    { state: 'canceled', says: 'was requested at the provider and canceled' },
    { state: 'rejected', says: "was requested at the provider and rejected by the provider's review: no money moved" },
    { state: 'reversed', says: 'was made at the provider and taken back later' },
  ] as const)('of a refund that is $state', ({ state, says }) => {
    expect(summaries(judgedCase(sightingInput(refundShown({ state }))))).toEqual([`${REFUND} ${says}${UNEXPLAINED}`])
  })

  test('shows invisible characters and direction marks of ids by their code points', () => {
    const odd = refundShown({ about: ['pi_a\u202Egpj.exe\u200B'] })
    const [summary] = summaries(judgedCase(sightingInput(odd)))
    expect(summary).toBe(`A refund of EUR 24.99 on pi_a<U+202E>gpj.exe<U+200B> was made at the provider${UNEXPLAINED}`)
  })

  test.each([
    { name: 'scheduled', shown: scheduledCancellation(T0), says: 'is scheduled at the provider' },
    { name: 'in effect', shown: endedSubscription(T0), says: 'was made at the provider' },
  ])('states that a cancellation is $name', ({ shown, says }) => {
    expect(summaries(judgedCase(sightingInput(shown)))).toEqual([`A cancellation on sub_1 ${says}${UNEXPLAINED}`])
  })

  test.each(['processor', 'reseller'] as const)('says that a set end was taken back (%s)', provider => {
    const running = subscriptionShown({ provider, asOf: T0 + 30_000 })
    const set = scheduledCancellation(provider === 'reseller' ? null : T0, { provider })
    const says = 'was set at the provider and taken back (the subscription continues)'
    const withinTheMinute = judgedCase(sightingInput(set), sightingInput(running, { eventId: 'evt_2' }))
    expect(summaries(withinTheMinute)).toEqual([`A cancellation on sub_1 ${says}${UNEXPLAINED}`])
    const alerted = judgedCase(sightingInput(set))
    const takenBack = play([{ at: T0 + MINUTE, input: sightingInput(running, { eventId: 'evt_2' }) }], alerted)
    expect(summaries(takenBack)).toEqual([`A cancellation on sub_1 ${says}${UNEXPLAINED}`])
  })

  test('says that a set end did not take effect, because an earlier end replaced it', () => {
    const theCase = judgedCase(
      sightingInput(scheduledCancellation(T0)),
      sightingInput(endedSubscription(T0 + 30_000), { eventId: 'evt_2' }),
    )
    expect(summaries(theCase)).toEqual([
      `A cancellation on sub_1 was set at the provider and did not take effect (another cancellation followed)${UNEXPLAINED}`,
      `A cancellation on sub_1 was made at the provider${UNEXPLAINED}`,
    ])
  })

  test('says that a refund released an authorization, whichever of its events comes first', () => {
    const refund = sightingInput(refundShown({ about: ['pi_1', 'ch_1'], amount: 700 }))
    const released = sightingInput({ ...totalShown(700, 0, T0, null), isReleasedAuthorization: true as const })
    for (const inputs of [[released], [refund, released], [released, refund]]) {
      const theCase = judgedCase(...inputs)
      expect(summaries(theCase)).toEqual([
        `A release of an authorization of EUR 7.00 on pi_1 was made at the provider: no money moved${UNEXPLAINED}`,
      ])
      expect(theCase.actions.map(({ state }) => state)).toEqual(['canceled'])
    }
  })

  test('says that the provider does not know the refund when it is asked', () => {
    const pending = play([{ at: T0, input: refundSeen() }])
    const facts = lookFacts([policy({ canRead: true })])
    const denied = secondLooks(pending).reduce((theCase, due) => {
      const asked = decide(theCase, look(due, facts), contextAt(due.dueAt))
      return decide(asked, look(due, facts, 'not_found'), contextAt(due.dueAt + MINUTE))
    }, pending)
    expect(summaries(denied)).toEqual([
      `${REFUND} was reported by the provider, which does not know it when it is asked${UNEXPLAINED}`,
    ])
    expect(whyOf(denied, onlyAction(denied)).rule).toBe(
      'Nothing explains it; the provider does not know it when it is asked',
    )
  })
})

describe('the summary of a resolved incident names the explanation', () => {
  const alerted = judgedCase(refundSeen())

  test('an operation that names the refund', () => {
    const named = play([{ at: T0 + 5 * MINUTE, input: operationSeen({ provider_ref: 're_1' }) }], alerted)
    expect(summaries(named)).toEqual([`${REFUND} is explained after all: operation op_1 names this very object`])
  })

  test('an operation that matches by amount and time is not said to have made it', () => {
    const agreed = decideAgain(play([{ at: T0 + 5 * MINUTE, input: operationSeen() }], alerted))
    expect(summaries(agreed)).toEqual([
      `${REFUND} is explained after all: operation op_1 agrees in kind, subject, amount, currency and time`,
    ])
    expect(unexpectedActionIncident(onlyAction(agreed))?.resolvedBy).toBe('op_1')
  })

  test('an end that the provider caused needs no explanation', () => {
    const open = judgedCase(sightingInput(scheduledCancellation(T0)))
    const involuntary = sightingInput(
      endedSubscription(T0, { asOf: T0 + MINUTE, cancellation: { cause: 'involuntary', detail: 'not_paid' } }),
    )
    const [summary] = summaries(play([{ at: T0 + 5 * MINUTE, input: involuntary }], open))
    expect(summary).not.toContain('explained after all')
  })
})

describe('why states only reported facts', () => {
  const why = (...inputs: Input[]) => {
    const theCase = play(inputs.map(input => ({ at: T0, input })))
    return whyOf(theCase, onlyAction(theCase)).candidates.map(({ text }) => text)
  }

  test.each([
    {
      name: 'an operation that was not reported as sent may have been sent',
      said: { state: 'requested', executing_at: null, ended_at: null },
      text: 'It is reported as requested, and not as sent to the provider',
    },
    {
      name: 'an operation that names another refund need not have made it',
      said: { provider_ref: 're_2' },
      text: 'It names re_2, and this is re_1',
    },
    {
      name: 'an operation without approval may not have been executed',
      said: { provider_ref: 're_1', unapproved: 'never_asked' },
      text: 'It did not have the approval that it needed (never asked)',
    },
    {
      name: 'the times of an operation are those between which it may have acted',
      said: { executing_at: '2026-11-21T08:00:00.000Z', ended_at: '2026-11-21T08:00:01.000Z' },
      text: 'It may have acted from 2026-11-21T08:00:00.000Z to 2026-11-21T08:00:01.000Z, and this was made at 2026-11-21T10:00:00.000Z',
    },
  ] as const)('$name', ({ said, text }) => {
    expect(why(refundSeen(), operationSeen(said))).toEqual([text])
  })

  test('a cancellation without a request time was requested between two times', () => {
    const [before, after] = [
      subscriptionShown({ provider: 'reseller', asOf: T0 - 30 * MINUTE }),
      endedSubscription(null, { provider: 'reseller' }),
    ]
    const cancels = {
      kind: 'cancellation',
      subject: 'sub_1',
      provider: 'reseller',
      amount: null,
      currency: null,
    } as const
    const long = { executing_at: '2026-11-21T08:00:00.000Z', ended_at: '2026-11-21T08:00:01.000Z' }
    expect(why(sightingInput(before), sightingInput(after), operationSeen({ ...cancels, ...long }))).toEqual([
      'It may have acted from 2026-11-21T08:00:00.000Z to 2026-11-21T08:00:01.000Z, ' +
        'and this was asked for between 2026-11-21T09:30:00.000Z and 2026-11-21T10:00:00.000Z',
    ])
  })
})
