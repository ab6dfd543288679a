import { describe, expect, test } from 'vitest'
import {
  alertsOf,
  contextAt,
  emptyCase,
  look,
  lookAll,
  MINUTE,
  onlyAction,
  operation,
  operationSeen,
  play,
  policy,
  refundSeen,
  SECOND,
  T0,
  totalSeen,
  unexpectedActionIncident,
} from '../../test/fixtures.ts'
import type { ActionRecord } from '../case/action-record.ts'
import type { Case } from '../case/case.ts'
import { pendingLooks } from '../case/looks.ts'
import { applyOperation } from './apply-object.ts'
import { decide } from './decide.ts'
import { mergeCases } from './merge.ts'

const seen = refundSeen()

describe('first sight', () => {
  test('an unexplained refund is pending, and its second look is due a minute after the first record of it', () => {
    const theCase = play([{ at: T0, input: seen }])
    expect(onlyAction(theCase)).toMatchObject({ verdict: 'pending', reason: 'awaiting_second_look' })
    expect(pendingLooks(theCase)).toMatchObject([{ lookId: onlyAction(theCase).id, dueAt: T0 + MINUTE }])
    expect(theCase.outbox).toMatchObject([{ topic: 'rechecks', headers: { 'x-due-at': String(T0 + MINUTE) } }])
  })

  test('an event that comes three days late keeps its minute of grace', () => {
    const late = T0 + 3 * 24 * 60 * MINUTE
    expect(pendingLooks(play([{ at: late, input: seen }]))).toMatchObject([{ dueAt: late + MINUTE }])
  })

  test('a refund that an operation names is explained at once, without a second look', () => {
    const theCase = play([
      { at: T0, input: operationSeen({ provider_ref: 're_1' }) },
      { at: T0 + SECOND, input: seen },
    ])
    expect(onlyAction(theCase)).toMatchObject({
      verdict: 'explained',
      reason: 'provider_ref_matches',
      operationId: 'op_1',
    })
    expect(theCase.outbox).toEqual([])
  })

  test('the same event three times changes nothing after the first', () => {
    const once = play([{ at: T0, input: seen }])
    expect(
      play(
        [
          { at: T0 + SECOND, input: seen },
          { at: T0 + MINUTE, input: seen },
        ],
        once,
      ),
    ).toEqual(once)
  })

  test('refund.created, refund.updated and charge.refunded are one action', () => {
    const theCase = play([
      { at: T0, input: totalSeen({ total: 2499, before: 0 }) },
      { at: T0, input: refundSeen({ eventType: 'refund.updated', status: 'succeeded' }) },
      { at: T0, input: refundSeen({ status: 'pending' }) },
    ])
    expect(onlyAction(lookAll(theCase))).toMatchObject({ state: 'succeeded', providerRef: 're_1', amount: 2499 })
  })

  test('an older state that arrives later does not replace a newer one', () => {
    const theCase = play([
      { at: T0, input: refundSeen({ eventType: 'refund.updated', status: 'failed' }) },
      { at: T0 + SECOND, input: refundSeen({ status: 'pending' }) },
    ])
    expect(onlyAction(theCase).state).toBe('failed')
  })

  test('the shown state and id do not depend on the order of two final states', () => {
    const failed = refundSeen({ eventType: 'refund.updated', status: 'failed', paymentIntent: null }, { eventId: 'f' })
    const canceled = refundSeen({ eventType: 'refund.updated', status: 'canceled' }, { eventId: 'c' })
    const [a, b] = [
      [failed, canceled],
      [canceled, failed],
    ].map(inputs => onlyAction(play(inputs.map(input => ({ at: T0, input })))))
    expect([a?.state, a?.subject]).toEqual([b?.state, b?.subject])
  })

  test('an operation that was never sent explains nothing and adds no references', () => {
    const unsent = operationSeen({ state: 'approved', executing_at: null, ended_at: null, provider_ref: 're_1' })
    const theCase = play([{ at: T0, input: unsent }])
    expect(theCase).toMatchObject({ refs: [], actions: [] })
    expect(onlyAction(play([{ at: T0, input: seen }], theCase)).verdict).toBe('pending')
  })

  test('a payment with very many operations keeps only the latest', () => {
    const steps = Array.from({ length: 700 }, (_, index) => ({
      at: T0,
      input: operationSeen({ operation_id: `op_${index}`, amount: 1 }),
    }))
    expect(play(steps).operations).toHaveLength(500)
  })

  test('an operation that explains an action is always kept', () => {
    const [action] = play([{ at: T0, input: seen }]).actions
    if (action === undefined) throw new Error('There is no action')
    const ids = Array.from({ length: 501 }, (_, index) => `op_${index}`)
    const explaining: Case = {
      ...emptyCase(),
      actions: ids.map(
        id =>
          ({ ...action, id, verdict: 'explained', reason: 'provider_ref_matches', operationId: id }) as ActionRecord,
      ),
    }
    const full = ids.reduce((next, operation_id) => applyOperation(next, operation({ operation_id })), explaining)
    expect(applyOperation(full, operation({ operation_id: 'op_new' })).operations).toHaveLength(502)
  })

  test('the key of an update request is not the key of the request that made the refund', () => {
    const theCase = play([
      { at: T0, input: operationSeen({ idempotency_key: 'k', amount: 1 }) },
      { at: T0, input: refundSeen({ eventType: 'refund.updated', idempotencyKey: 'k' }) },
    ])
    expect(onlyAction(theCase).verdict).toBe('pending')
  })

  test('an action that the provider made before the connection is explained by that', () => {
    const before = refundSeen({ createdAt: T0 - 61 * MINUTE })
    expect(onlyAction(play([{ at: T0, input: before }]))).toMatchObject({
      verdict: 'explained',
      reason: 'made_before_connection',
    })
  })
})

describe('second look', () => {
  test('an unexplained action opens one incident and raises one alert', () => {
    const theCase = lookAll(play([{ at: T0, input: seen }]))
    expect(onlyAction(theCase)).toMatchObject({ verdict: 'unexplained', reason: 'nothing_explains_it' })
    expect(unexpectedActionIncident(onlyAction(theCase))).toMatchObject({ state: 'open', openedAt: T0 + MINUTE })
    expect(alertsOf(theCase)).toEqual(['incident.opened'])
  })

  test('a repeated look changes nothing', () => {
    const pending = play([{ at: T0, input: seen }])
    const once = lookAll(pending)
    const again = decide(once, look({ lookId: onlyAction(once).id, dueAt: T0 + MINUTE }), contextAt(T0 + 2 * MINUTE))
    expect(again).toEqual(once)
  })

  test('a look that is early by this clock changes nothing', () => {
    const pending = play([{ at: T0, input: seen }])
    const due = { lookId: onlyAction(pending).id, dueAt: T0 + MINUTE }
    expect(decide(pending, look(due), contextAt(T0 + MINUTE - 1))).toEqual(pending)
  })

  const quiet = [
    {
      name: 'ignore never alerts',
      with: policy({ outOfBand: 'ignore', hasExecuted: true }),
      reason: 'out_of_band_ignore',
    },
    {
      name: 'auto before the first operation',
      with: policy({ outOfBand: 'auto' }),
      reason: 'auto_before_first_operation',
    },
    { name: 'a connection deleted meanwhile', with: policy({ deleted: true }), reason: 'connection_deleted' },
  ]
  test.each(quiet)('$name is recorded with its reason and does not alert', ({ with: setting, reason }) => {
    const theCase = lookAll(play([{ at: T0, input: seen }]), [setting])
    expect(onlyAction(theCase)).toMatchObject({ verdict: 'not_alerted', reason })
    expect(alertsOf(theCase)).toEqual([])
  })

  test('auto alerts if an operation of the account ever executed', () => {
    const theCase = lookAll(play([{ at: T0, input: seen }]), [policy({ outOfBand: 'auto', hasExecuted: true })])
    expect(alertsOf(theCase)).toEqual(['incident.opened'])
  })

  test('auto alerts if an operation acted on this payment, also through another connection', () => {
    const theCase = play([
      { at: T0, input: operationSeen({ connection_id: 'con_b', provider_ref: 're_1' }) },
      { at: T0, input: refundSeen({ id: 're_1' }) },
      { at: T0, input: refundSeen({ id: 're_2' }) },
    ])
    expect(alertsOf(lookAll(theCase, [policy({ outOfBand: 'auto' })]))).toEqual(['incident.opened'])
  })

  test('a connection whose document is missing alerts', () => {
    expect(alertsOf(lookAll(play([{ at: T0, input: seen }]), []))).toEqual(['incident.opened'])
  })

  test('a look that the case does not wait for changes nothing', () => {
    const pending = play([{ at: T0, input: seen }])
    const nobodys = look({ lookId: 'act_nobody', dueAt: T0 + MINUTE })
    expect(decide(pending, nobodys, contextAt(T0))).toEqual(pending)
  })

  test('an action seen through two connections is judged by the stricter setting', () => {
    const theCase = play([
      { at: T0, input: seen },
      { at: T0, input: refundSeen({}, { connection: { id: 'con_b', createdAt: 0 }, eventId: 'evt_b' }) },
    ])
    const policies = [policy({ outOfBand: 'ignore' }), policy({ connectionId: 'con_b', outOfBand: 'alert' })]
    expect(alertsOf(lookAll(theCase, policies))).toEqual(['incident.opened'])
  })
})

describe('explanations that arrive, change and are lost', () => {
  test('an operation that arrives within the minute explains the action without an alert', () => {
    const theCase = lookAll(
      play([
        { at: T0, input: seen },
        { at: T0 + 30 * SECOND, input: operationSeen() },
      ]),
    )
    expect(onlyAction(theCase).verdict).toBe('explained')
    expect(alertsOf(theCase)).toEqual([])
  })

  test('an operation that arrives after the alert and names the refund resolves the incident, with its id', () => {
    const alerted = lookAll(play([{ at: T0, input: seen }]))
    const theCase = play([{ at: T0 + 5 * MINUTE, input: operationSeen({ provider_ref: 're_1' }) }], alerted)
    expect(unexpectedActionIncident(onlyAction(theCase))).toMatchObject({ state: 'resolved', resolvedBy: 'op_1' })
    expect(alertsOf(theCase)).toEqual(['incident.opened', 'incident.resolved'])
  })

  test('two refunds with one operation alert once', () => {
    const theCase = lookAll(
      play([
        { at: T0, input: refundSeen({ id: 're_1' }) },
        { at: T0, input: refundSeen({ id: 're_2' }) },
        { at: T0 + SECOND, input: operationSeen() },
      ]),
    )
    expect(theCase.actions.map(action => action.verdict).sort()).toEqual(['explained', 'unexplained'])
    expect(alertsOf(theCase)).toEqual(['incident.opened'])
  })

  test('an action gets a second look if its operation turns out to have made another action', () => {
    const weak = play([
      { at: T0, input: operationSeen({ version: 1 }) },
      { at: T0, input: refundSeen({ id: 're_1' }) },
    ])
    expect(onlyAction(weak).verdict).toBe('explained')
    const displaced = play([{ at: T0 + 5 * MINUTE, input: operationSeen({ version: 2, provider_ref: 're_2' }) }], weak)
    expect(onlyAction(displaced)).toMatchObject({ verdict: 'pending', look: { dueAt: T0 + 6 * MINUTE } })
    expect(alertsOf(lookAll(displaced))).toEqual(['incident.opened'])
  })

  test('an older copy of an operation never replaces a newer one', () => {
    const theCase = play([
      { at: T0, input: operationSeen({ version: 3, state: 'completed' }) },
      { at: T0, input: operationSeen({ version: 2, state: 'requested', executing_at: null }) },
    ])
    expect(theCase.operations).toMatchObject([{ version: 3 }])
  })
})

describe('charge.refunded without refund events', () => {
  test('becomes a provisional action of the open amount at the second look, and alerts', () => {
    const theCase = lookAll(play([{ at: T0, input: totalSeen({ total: 2499, before: 0 }) }]))
    expect(onlyAction(theCase)).toMatchObject({ providerRef: null, amount: 2499, verdict: 'unexplained' })
    expect(alertsOf(theCase)).toEqual(['incident.opened'])
  })

  test('does not alert at first sight', () => {
    expect(play([{ at: T0, input: totalSeen({ total: 2499 }) }]).actions).toEqual([])
  })

  test('is explained by an operation of the same amount', () => {
    const theCase = lookAll(
      play([
        { at: T0, input: operationSeen() },
        { at: T0, input: totalSeen({ total: 2499 }) },
      ]),
    )
    expect(onlyAction(theCase)).toMatchObject({ verdict: 'explained', reason: 'amount_and_time_match' })
  })

  test('leaves out the amount that may have been refunded before the connection was made', () => {
    const charge = { chargeCreatedAt: T0 - 90 * MINUTE }
    const theCase = lookAll(play([{ at: T0, input: totalSeen({ total: 3000, before: 1000, ...charge }) }]))
    expect(onlyAction(theCase).amount).toBe(2000)
  })

  test('two totals of one charge are two refunds', () => {
    const theCase = lookAll(
      play([
        { at: T0, input: totalSeen({ total: 1000, before: 0 }) },
        { at: T0, input: totalSeen({ total: 2500, before: 1000 }) },
      ]),
    )
    expect(theCase.actions.map(action => action.amount)).toEqual([1000, 1500])
  })

  test('a refund event that arrives later replaces the provisional action without a second alert', () => {
    const alerted = lookAll(play([{ at: T0, input: totalSeen({ total: 2499 }) }]))
    const theCase = lookAll(play([{ at: T0 + 5 * MINUTE, input: seen }], alerted))
    expect(onlyAction(theCase)).toMatchObject({ providerRef: 're_1', verdict: 'unexplained' })
    expect(alertsOf(theCase)).toEqual(['incident.opened'])
  })
})

describe('two cases that are merged', () => {
  const byCharge = play([{ at: T0, input: refundSeen({ id: 're_1', paymentIntent: null }) }])
  const byIntent = play([{ at: T0, input: operationSeen({ provider_ref: 're_9' }) }], {
    ...emptyCase(),
    id: 'sub_other',
    createdAt: T0 + SECOND,
  })

  test('keep the greater id of two stored cases, or the id of the only stored one, in either order', () => {
    const [stored, other] = [
      { ...byCharge, version: 2 },
      { ...byIntent, version: 2 },
    ]
    const kept = (a: Case, b: Case) => [mergeCases(a, b, T0), mergeCases(b, a, T0)].map(({ merged }) => merged.id)
    expect([stored.id, other.id]).toEqual(['sub_test', 'sub_other'])
    expect(kept(stored, other)).toEqual(['sub_test', 'sub_test'])
    expect(kept(byCharge, other)).toEqual(['sub_other', 'sub_other'])
    expect(kept(stored, byIntent)).toEqual(['sub_test', 'sub_test'])
  })

  test('keeps the actions, operations and references of both', () => {
    const { merged } = mergeCases(byIntent, byCharge, T0)
    expect(merged.actions).toHaveLength(1)
    expect(merged.operations).toHaveLength(1)
    expect(new Set(merged.refs)).toEqual(new Set([...byCharge.refs, ...byIntent.refs]))
  })

  test('get a version that is higher than that of every projection', () => {
    expect(mergeCases({ ...byCharge, version: 2 }, { ...byIntent, version: 7 }, T0).merged.version).toBe(7)
  })
})
