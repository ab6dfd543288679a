import { Reread } from '@backstop/contracts'
import { describe, expect, test, vi } from 'vitest'
import { expectedChange } from '../../test/expected-changes.ts'
import {
  alertsOf,
  CONNECTION,
  contextAt,
  look,
  lookFacts,
  MINUTE,
  onlyAction,
  operationSeen,
  play,
  policy,
  refundSeen,
  SECOND,
  secondLooks,
  T0,
  totalSeen,
} from '../../test/fixtures.ts'
import { refundShown, scheduledCancellation, sightingInput, totalShown } from '../../test/sightings.ts'
import type { Case } from '../case/case.ts'
import type { ConnectionPolicy } from '../case/connection-policy.ts'
import type { ExpectedChange } from '../case/expected-change.ts'
import { type PendingLook, pendingLooks } from '../case/looks.ts'
import { projectAction } from '../show/projection.ts'
import { decide, type Input } from './decide.ts'

const readable = lookFacts([policy({ canRead: true })])
const biller = (facts: Partial<ConnectionPolicy> = {}) =>
  lookFacts([policy({ connectionId: 'con_s', provider: 'subscription', canRead: true, ...facts })])
const throughBiller = { connection: { id: 'con_s', createdAt: T0 - 60 * MINUTE } }
const hinted = sightingInput(
  refundShown({ provider: 'subscription', providerRef: 'txn_1', about: ['sub_1'] }),
  throughBiller,
)

const playAll = (...inputs: Input[]) => play(inputs.map(input => ({ at: T0, input })))
const rereadsOf = (theCase: Case) =>
  theCase.outbox.filter(entry => entry.topic === 'rereads').map(entry => Reread.parse(entry.message))
const onlyLook = (theCase: Case) => secondLooks(theCase)[0] as PendingLook
/** The case after the look, and after its answer. */
const afterLook = (theCase: Case, facts = readable, at = T0 + MINUTE) =>
  decide(theCase, look(onlyLook(theCase), facts), contextAt(at))
const afterAnswer = (theCase: Case, outcome: 'read' | 'not_found' | 'unavailable', facts = readable, asker = 'con_s') =>
  decide(theCase, look(onlyLook(theCase), facts, outcome, asker), contextAt(T0 + 2 * MINUTE))

describe('the second look of an object of a connected account', () => {
  const details = { account: 'acct_1' }
  const processor = { name: 'a refund', seen: refundShown({ details }) }
  const total = { name: 'a total', seen: { ...totalShown(700, 0, T0, T0 - MINUTE), details } }
  const cancellation = { name: 'a cancellation', seen: { ...scheduledCancellation(T0), details } }

  test.each([processor, total, cancellation])('asks as this account: $name', ({ seen }) => {
    const asked = afterLook(playAll(sightingInput(seen)))
    expect(alertsOf(asked)).toEqual([])
    const targets = rereadsOf(asked).flatMap(reread => (reread as { targets: object[] }).targets)
    expect(targets).toMatchObject([{ account: 'acct_1' }])
  })

  test('alerts if the account may not be read, and asks again later', () => {
    const asked = afterLook(playAll(sightingInput(processor.seen)))
    const judged = afterAnswer(asked, 'unavailable')
    expect(alertsOf(judged)).toEqual(['incident.opened'])
    expect(onlyAction(judged)).toMatchObject({ verdict: 'unexplained', readBack: 'unavailable' })
    expect(pendingLooks(judged).map(({ kind }) => kind)).toContain('late_reading')
  })

  test.each([
    { own: 'ignore', ofConnection: 'alert', verdict: 'not_alerted', says: 'the account acct_1 is set to ignore' },
    { own: 'alert', ofConnection: 'ignore', verdict: 'unexplained', says: 'Nothing explains it' },
  ] as const)('obeys out_of_band $own of the account, and not $ofConnection of its connection', step => {
    const { own, ofConnection, verdict, says } = step
    const accounts = [{ account: 'acct_1', out_of_band: own }]
    const facts = lookFacts([policy({ outOfBand: ofConnection, accounts })])
    const judged = afterLook(playAll(sightingInput(processor.seen)), facts)
    expect(onlyAction(judged)).toMatchObject({
      verdict,
      look: { connections: [{ out_of_band: own, account: 'acct_1' }] },
    })
    expect(projectAction(judged, onlyAction(judged)).why?.rule).toContain(says)
    const other = afterLook(playAll(sightingInput(refundShown({ details: { account: 'acct_2' } }))), facts)
    expect(alertsOf(other)).toEqual(ofConnection === 'alert' ? ['incident.opened'] : [])
  })

  test('asks the biller whose gateway is that account, if the processor cannot be asked', () => {
    const paid = refundShown({
      provider: 'subscription',
      providerRef: 'txn_1',
      gatewayRefs: ['re_1'],
      about: ['sub_1'],
    })
    const theCase = playAll(sightingInput(refundShown({ details })), sightingInput(paid, throughBiller))
    const facts = lookFacts([
      policy({ canRead: false }),
      policy({ connectionId: 'con_s', provider: 'subscription', canRead: true }),
    ])
    const [asked] = rereadsOf(afterLook(theCase, facts))
    expect(asked).toMatchObject({ connection_id: 'con_s', provider: 'subscription' })
    expect(JSON.stringify(asked)).not.toContain('acct_1')
  })
})

describe('the second look, if the provider can be asked', () => {
  const asked = afterLook(playAll(sightingInput(refundShown())))

  test('asks the provider, and gives no verdict yet', () => {
    expect(onlyAction(asked)).toMatchObject({ verdict: 'pending', look: { askedAt: T0 + MINUTE, doneAt: null } })
    const [reread] = rereadsOf(asked)
    expect(reread).toMatchObject({
      connection_id: CONNECTION,
      provider: 'processor',
      reason: 'second_look',
      attempt: 1,
      look: { look_id: onlyAction(asked).id, due_at: new Date(T0 + MINUTE).toISOString() },
      targets: [{ type: 'refund', id: 're_1' }],
    })
    expect(asked.refs).toContain(reread?.look?.ref)
  })

  test('asks for the details too, because people may be alerted', () => {
    const targetsOf = vi.fn(readable.targetsOf)
    afterLook(playAll(sightingInput(refundShown())), { ...readable, targetsOf })
    expect(targetsOf).toHaveBeenCalledExactlyOnceWith('processor', expect.objectContaining({ details: true }))
  })

  test('asks once, even if the look is repeated while the answer may still arrive', () => {
    const again = afterLook(asked, readable, T0 + MINUTE + 3 * SECOND)
    expect(rereadsOf(again)).toHaveLength(1)
    expect(alertsOf(again)).toEqual([])
  })

  test('sends a message that ends the wait for the answer four seconds after the look was due', () => {
    const answerBy = T0 + MINUTE + 4 * SECOND
    expect(asked.outbox.filter(entry => entry.topic === 'rechecks.unanswered')).toMatchObject([
      { headers: { 'x-due-at': String(answerBy) }, message: { look_id: onlyAction(asked).id } },
    ])
    expect(rereadsOf(asked)[0]?.answer_by).toBe(new Date(answerBy).toISOString())
  })

  test('alerts without the answer when that message arrives, and records that the provider was unavailable', () => {
    const judged = afterLook(asked, readable, T0 + MINUTE + 4 * SECOND)
    expect(onlyAction(judged)).toMatchObject({ verdict: 'unexplained', readBack: 'unavailable' })
    expect(alertsOf(judged)).toEqual(['incident.opened'])
    expect(rereadsOf(judged)).toHaveLength(1)
  })

  test('is requested again by the timer for overdue looks if that message is lost', () => {
    expect(pendingLooks(asked)[0]?.wakeAt).toBe(T0 + MINUTE + 24 * SECOND)
    expect(alertsOf(afterLook(asked, readable, T0 + MINUTE + 24 * SECOND))).toEqual(['incident.opened'])
  })

  test('gives the provider two seconds if the look itself is late', () => {
    const late = afterLook(playAll(sightingInput(refundShown())), readable, T0 + 10 * MINUTE)
    expect(rereadsOf(late)[0]?.answer_by).toBe(new Date(T0 + 10 * MINUTE + 2 * SECOND).toISOString())
    expect(alertsOf(afterLook(late, readable, T0 + 10 * MINUTE + SECOND))).toEqual([])
    expect(alertsOf(afterLook(late, readable, T0 + 10 * MINUTE + 2 * SECOND))).toEqual(['incident.opened'])
  })

  test.each([
    { outcome: 'read', readBack: 'confirmed' },
    { outcome: 'not_found', readBack: 'not_found' },
    { outcome: 'unavailable', readBack: 'unavailable' },
  ] as const)('judges what was signed when the answer is $outcome, and says so', ({ outcome, readBack }) => {
    const judged = afterAnswer(asked, outcome)
    expect(onlyAction(judged)).toMatchObject({ verdict: 'unexplained', readBack })
    expect(alertsOf(judged)).toEqual(['incident.opened'])
    expect(afterAnswer(asked, outcome)).toEqual(judged)
  })

  test('a repeated answer changes nothing', () => {
    const judged = afterAnswer(asked, 'read')
    const twice = decide(
      judged,
      look({ lookId: onlyAction(judged).id, dueAt: T0 + MINUTE }, readable, 'read'),
      contextAt(T0),
    )
    expect(twice).toEqual(judged)
  })

  test('an explanation that arrives while the provider is asked ends the look', () => {
    const explained = play([{ at: T0 + MINUTE + SECOND, input: operationSeen() }], asked)
    expect(secondLooks(explained)).toEqual([])
    expect(alertsOf(explained)).toEqual([])
  })

  test('objects of the answer are applied before the look', () => {
    const failed = refundShown({ state: 'failed' })
    const shown = play(
      [{ at: T0 + 2 * MINUTE, input: sightingInput(failed, { eventId: null, readFor: 'second_look' }) }],
      asked,
    )
    expect(onlyAction(afterAnswer(shown, 'read'))).toMatchObject({ state: 'failed', verdict: 'unexplained' })
  })

  test('a deleted connection is not asked', () => {
    const deleted = afterLook(
      playAll(sightingInput(refundShown())),
      lookFacts([policy({ canRead: true, deleted: true })]),
    )
    expect(onlyAction(deleted)).toMatchObject({ verdict: 'not_alerted', reason: 'connection_deleted' })
    expect(rereadsOf(deleted)).toEqual([])
  })

  test('a provider that cannot answer the question is not asked', () => {
    const facts = { ...readable, targetsOf: () => [] }
    expect(onlyAction(afterLook(playAll(sightingInput(refundShown())), facts)).verdict).toBe('unexplained')
  })

  test("asks for the charge's refunds before a total becomes an action, and subtracts the refunds that are found", () => {
    const asking = afterLook(playAll(totalSeen({ total: 2499, before: 0 })))
    expect(asking.actions).toEqual([])
    expect(rereadsOf(asking)).toMatchObject([{ targets: [{ type: 'refund', id: 'pi_1' }] }])
    const found = refundShown({ about: ['pi_1', 'ch_1'] })
    const shown = play(
      [{ at: T0 + 2 * MINUTE, input: sightingInput(found, { eventId: null, readFor: 'second_look' }) }],
      asking,
    )
    const step = secondLooks(shown).find(({ kind }) => kind === 'refund_total') as PendingLook
    const judged = decide(shown, look(step, readable, 'read'), contextAt(T0 + 2 * MINUTE))
    expect(judged.actions.map(action => action.providerRef)).toEqual(['re_1'])
    expect(onlyAction(afterAnswer(asking, 'not_found'))).toMatchObject({ providerRef: null, verdict: 'unexplained' })
  })
})

describe('an action that is known only from hints', () => {
  const asked = afterLook(playAll(hinted), biller())

  test('is judged once the provider has answered', () => {
    expect(rereadsOf(asked)).toMatchObject([{ connection_id: 'con_s', targets: [{ id: 'txn_1' }] }])
    expect(onlyAction(afterAnswer(asked, 'read', biller())).verdict).toBe('unexplained')
  })

  test('is never judged while the provider is unavailable, and is requested again', () => {
    const unanswered = afterAnswer(asked, 'unavailable', biller())
    expect(onlyAction(unanswered)).toMatchObject({ verdict: 'pending', look: { askedAt: T0 + 2 * MINUTE } })
    expect(alertsOf(unanswered)).toEqual([])
    expect(pendingLooks(unanswered)[0]?.wakeAt).toBe(T0 + 22 * MINUTE)
    const again = afterLook(unanswered, biller(), T0 + 22 * MINUTE)
    expect(rereadsOf(again)).toHaveLength(2)
  })

  test('is asked for at once through another connection if the one that asked was deleted', () => {
    const again = { connection: { id: 'con_new', createdAt: T0 } }
    const seen = refundShown({ provider: 'subscription', providerRef: 'txn_1', about: ['sub_1'] })
    const shown = afterLook(playAll(hinted, sightingInput(seen, again)), biller())
    const both = lookFacts(
      ['con_s', 'con_new'].map(connectionId =>
        policy({ connectionId, provider: 'subscription', canRead: true, deleted: connectionId === 'con_s' }),
      ),
    )
    const moved = afterAnswer(shown, 'unavailable', both)
    expect(rereadsOf(moved).map(({ connection_id }) => connection_id)).toEqual(['con_s', 'con_new'])
    expect(rereadsOf(afterAnswer(moved, 'unavailable', both, 'con_new'))).toHaveLength(2)
  })

  test('is judged without an answer once every connection that shows it was deleted', () => {
    const ended = afterAnswer(asked, 'unavailable', biller({ deleted: true }))
    expect(onlyAction(ended).verdict).toBe('not_alerted')
  })

  test('waits when the connection lost its read key', () => {
    const waits = afterLook(playAll(hinted), biller({ canRead: false }))
    expect(onlyAction(waits).verdict).toBe('pending')
    expect(rereadsOf(waits)).toEqual([])
  })

  test('is not judged without the answer', () => {
    expect(asked.outbox.filter(entry => entry.topic === 'rechecks.unanswered')).toEqual([])
    expect(rereadsOf(asked)[0]?.answer_by).toBeUndefined()
    expect(afterLook(asked, biller(), T0 + 10 * MINUTE)).toEqual(asked)
  })

  test('is judged without an answer if the gateway signed the same refund', () => {
    const linked = refundShown({
      provider: 'subscription',
      providerRef: 'txn_1',
      about: ['sub_1'],
      gatewayRefs: ['re_1'],
    })
    const both = afterLook(playAll(sightingInput(refundShown()), sightingInput(linked, throughBiller)), biller())
    expect(onlyAction(afterAnswer(both, 'unavailable', biller())).verdict).toBe('unexplained')
  })

  test('is re-read by its subscription if it is a cancellation', () => {
    const cancelled = sightingInput(scheduledCancellation(T0, { provider: 'subscription' }), throughBiller)
    expect(rereadsOf(afterLook(playAll(cancelled), biller()))).toMatchObject([
      { targets: [{ type: 'subscription', id: 'sub_1' }] },
    ])
  })
})

describe('expected changes', () => {
  const expected = expectedChange({ expiresAt: T0 + MINUTE })
  const lookedWith = (expectedChanges: ExpectedChange[]) => {
    const informed = play(
      [{ at: T0 + MINUTE, input: { kind: 'expected_changes', expectedChanges } }],
      playAll(sightingInput(refundShown())),
    )
    return secondLooks(informed).length === 0 ? informed : afterLook(informed, lookFacts([policy()]))
  }

  test('of another project explain nothing', () => {
    expect(onlyAction(lookedWith([{ ...expected, projectId: 'prj_other' }])).verdict).toBe('unexplained')
  })

  test('are found among many others of the project', () => {
    const others = Array.from({ length: 60 }, (_, index) => ({
      ...expected,
      id: `exp_x${index}`,
      kind: 'cancellation' as const,
      expiresAt: T0 + 99 * MINUTE,
    }))
    expect(onlyAction(lookedWith([...others, expected]))).toMatchObject({ expectedChangeId: 'exp_1' })
  })

  test('explain an action whose operation turns out to have made another one', () => {
    const informed = lookedWith([expected])
    expect(onlyAction(informed)).toMatchObject({ reason: 'expected_change_matches', expectedChangeId: 'exp_1' })
    const made = play([{ at: T0 + 2 * MINUTE, input: operationSeen({ version: 1 }) }], informed)
    expect(onlyAction(made)).toMatchObject({ reason: 'amount_and_time_match', expectedChangeId: null })
    const other = play([{ at: T0 + 3 * MINUTE, input: operationSeen({ version: 2, provider_ref: 're_2' }) }], made)
    expect(onlyAction(other)).toMatchObject({ reason: 'expected_change_matches', expectedChangeId: 'exp_1' })
    expect(alertsOf(other)).toEqual([])
  })
})

test('an action that a deleted connection showed alerts if a newer connection shows it', () => {
  const deleted = lookFacts([policy({ deleted: true }), policy({ connectionId: 'con_b' })])
  const newer = { connection: { id: 'con_b', createdAt: T0 + 2 * MINUTE }, eventId: 'evt_b' }
  const quiet = afterLook(playAll(refundSeen()), deleted)
  expect(onlyAction(quiet)).toMatchObject({ verdict: 'not_alerted', reason: 'connection_deleted' })
  const shown = play([{ at: T0 + 3 * MINUTE, input: refundSeen({}, newer) }], quiet)
  expect(alertsOf(afterLook(shown, deleted, T0 + 4 * MINUTE))).toEqual(['incident.opened'])
})

test('a refund that only a total shows does not take the operation that may explain an alerted refund since its time came', () => {
  const at = (ms: number) => new Date(T0 + ms).toISOString()
  const similar = operationSeen({ executing_at: at(-2 * SECOND), ended_at: at(0) })
  const alerted = afterLook(playAll(refundSeen()), lookFacts())
  const dueAt = T0 + 15 * MINUTE
  const total = totalSeen({ total: 4998, before: 2499, createdAt: dueAt - MINUTE })
  const waiting = play(
    [
      { at: T0 + 2 * MINUTE, input: similar },
      { at: dueAt - MINUTE, input: total },
    ],
    alerted,
  )
  expect(waiting.actions).toMatchObject([{ verdict: 'unexplained', decideAgainAt: dueAt }])
  const looked = afterLook(waiting, lookFacts(), dueAt)
  expect(looked.actions).toMatchObject([
    { verdict: 'explained', operationId: 'op_1' },
    { verdict: 'unexplained', providerRef: null },
  ])
  expect(looked.actions.map(({ timeline }) => timeline.map(({ what }) => what).slice(-3))).toEqual([
    ['second_look', 'explained', 'incident_resolved'],
    ['second_look', 'incident_opened', 'alert_sent'],
  ])
})
