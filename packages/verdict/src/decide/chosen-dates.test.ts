/** At the subscription biller people choose dates. Each verdict depends on when something was done, not on its date. */
import { type ObservedAction, PROVIDERS } from '@backstop/providers'
import { describe, expect, test } from 'vitest'
import { expectedChange } from '../../test/expected-changes.ts'
import { CONNECTION, lookAll, MINUTE, operation, PROJECT, play, SECOND, sourceOf, T0 } from '../../test/fixtures.ts'
import type { ActionRecord } from '../case/action-record.ts'
import type { Case } from '../case/case.ts'
import type { Input } from './decide.ts'

const DAY = 86_400_000
const T = T0 / 1000
/** The connection of `sourceOf` was made an hour before T0. */
const CONNECTED = T - 3_600
const BEFORE = CONNECTED - 40 * 86_400

function read(type: string, object: Readonly<Record<string, unknown>>, readAt = T0): Input[] {
  const origin = { projectId: PROJECT, connectionId: CONNECTION, site: 'acme', readAt }
  const meaning = PROVIDERS.subscription.normaliseObject(origin, type, object)
  if (meaning.kind !== 'observed') throw new Error(`It shows nothing: ${JSON.stringify(meaning)}`)
  const source = sourceOf('', 'sweep', { eventId: null, readFor: 'sweep' })
  return meaning.sightings.map(sighting => ({ kind: 'sighting', sighting, source }))
}

const eventOf = (event_type: string, occurred_at: number, content: object, more: object = {}) =>
  read('event', {
    ...{ id: 'ev_1', event_type, occurred_at, source: 'admin_console', user: 'agent@example.com' },
    ...{ content, ...more },
  })
const cheque = (date: number, changedAt: number, more: object = {}) => ({
  ...{ id: 'txn_1', type: 'refund', status: 'success', amount: 2499, currency_code: 'EUR', subscription_id: 'sub_1' },
  ...{ gateway: 'not_applicable', payment_method: 'check', date, updated_at: changedAt },
  ...more,
})
const byCard = { gateway: 'stripe', id_at_gateway: 're_1', payment_method: 'card' }
const ended = (cancelled_at: number, updated_at: number, more: object = {}) => ({
  ...{ id: 'sub_1', status: 'cancelled', cancelled_at, updated_at },
  ...more,
})

/** An action that nothing explains waits for the provider's answer in these tests, and alerts then. */
const wordOf = (reason: string) => (reason === 'awaiting_second_look' ? 'judged' : reason)

/** The verdicts in both orders of arrival, each with the time at which the action was made. */
function verdictsOf(...inputs: Input[]): string[] {
  const [one, other] = [inputs, inputs.toReversed()].map(order => verdictsIn(order))
  expect(other?.toSorted()).toEqual(one?.toSorted())
  return one ?? []
}

function verdictsIn(inputs: readonly Input[]): string[] {
  const { actions }: Case = lookAll(play(inputs.map(input => ({ at: T0 + MINUTE, input }))))
  return actions
    .filter(({ kind }) => kind !== 'credit')
    .map(({ reason, providerCreatedAt }) => `${wordOf(reason)} ${(providerCreatedAt - T0) / SECOND}`)
}

describe('a recorded refund that is dated before the connection', () => {
  test('is judged if its event shows that it was made later', () => {
    const object = cheque(BEFORE, T)
    expect(
      verdictsOf(...read('transaction', object), ...eventOf('payment_refunded', T, { transaction: object })),
    ).toEqual(['judged 0'])
    // Whatever the object says about its last change.
    const old = cheque(BEFORE, BEFORE)
    expect(verdictsOf(...read('transaction', old), ...eventOf('payment_refunded', T, { transaction: old }))).toEqual([
      'judged 0',
    ])
  })

  test.each([
    { name: 'a cheque', more: {} },
    {
      name: 'a bank transfer, with a gateway that the payment had',
      more: { ...byCard, payment_method: 'bank_transfer' },
    },
    { name: 'a refund without a gateway', more: { gateway: undefined, payment_method: 'card' } },
    { name: 'a refund without the time of a change', more: { updated_at: undefined } },
  ])('is judged if no event is read and it changed later: $name', ({ more }) => {
    expect(verdictsOf(...read('transaction', cheque(BEFORE, T, more)))).toEqual(['judged 0'])
  })

  test('is judged if only a credit note that changed later shows it', () => {
    const note = {
      ...{ id: 'CN-1', type: 'refundable', status: 'refunded', total: 2499, currency_code: 'EUR', date: BEFORE },
      ...{ updated_at: T, subscription_id: 'sub_1' },
      linked_refunds: [{ txn_id: 'txn_1', txn_amount: 2499, txn_status: 'success', txn_date: BEFORE }],
    }
    expect(verdictsOf(...read('credit_note', note))).toEqual([`judged ${BEFORE - T}`])
    expect(verdictsOf(...read('credit_note', note), ...read('transaction', cheque(BEFORE, T)))).toEqual(['judged 0'])
    const madeThen = read('transaction', cheque(BEFORE, BEFORE))
    expect(verdictsOf(...read('credit_note', note), ...madeThen)).toEqual([`made_before_connection ${BEFORE - T}`])
  })

  test('is explained if its event, or an earlier state, shows that it was made before', () => {
    const bumped = read('transaction', cheque(BEFORE, T))
    const event = eventOf('payment_refunded', BEFORE, { transaction: cheque(BEFORE, BEFORE) })
    expect(verdictsOf(...bumped, ...event)).toEqual([`made_before_connection ${BEFORE - T}`])
    const early = read('transaction', cheque(BEFORE, CONNECTED - 5))
    expect(verdictsOf(...bumped, ...early)).toEqual([`made_before_connection ${-3_605}`])
  })

  test('is judged by the card refund of the gateway, which has its own date', () => {
    const object = cheque(BEFORE, T, byCard)
    expect(verdictsOf(...read('transaction', object))).toEqual([`made_before_connection ${BEFORE - T}`])
    const event = eventOf('payment_refunded', T, { transaction: object })
    expect(verdictsOf(...read('transaction', object), ...event)).toEqual([`judged ${BEFORE - T}`])
  })
})

describe('what an earlier version explained by its date', () => {
  const again = (theCase: Case, inputs: readonly Input[]) =>
    play(
      inputs.map(input => ({ at: T0 + 60 * MINUTE, input })),
      theCase,
    ).actions.map(({ reason }) => reason)

  test('stays explained if the object changes again, and is judged if an event shows when it was made', () => {
    const [shown] = read('transaction', cheque(BEFORE, T)) as [Extract<Input, { kind: 'sighting' }>]
    const { made: _made, ...stored } = shown.sighting as ObservedAction
    const before = play([{ at: T0, input: { ...shown, sighting: stored } }])
    expect(again(before, read('transaction', cheque(BEFORE, T + 600)))).toEqual(['made_before_connection'])
    const event = eventOf('payment_refunded', T, { transaction: cheque(BEFORE, T) })
    expect(again(before, event)).toEqual(['awaiting_second_look'])
  })

  test('stays explained if the subscription changes again, and is judged if an event shows when it ended', () => {
    const object = ended(BEFORE, T)
    const judged = play(read('subscription', object).map(input => ({ at: T0, input })))
    const explained = { verdict: 'explained', reason: 'made_before_connection' } as Pick<
      ActionRecord,
      'verdict' | 'reason'
    >
    const actions = judged.actions.map(action => ({ ...action, ...explained }) as ActionRecord)
    const before = { ...judged, actions }
    expect(again(before, read('subscription', ended(BEFORE, T + 600)))).toEqual(['made_before_connection'])
    const event = eventOf('subscription_canceled_with_backdating', T, { subscription: object })
    expect(again(before, event)).toEqual(['awaiting_second_look'])
  })
})

describe('the date that a person gave to a recorded refund', () => {
  const past = T - 20 * 60
  const object = cheque(past, T)
  const shown = [...read('transaction', object), ...eventOf('payment_refunded', T, { transaction: object })]
  const begun = (at: number): Input => ({
    kind: 'operation',
    operation: operation({
      ...{ provider: 'subscription', subject: 'sub_1' },
      executing_at: new Date(at * 1000).toISOString(),
      ended_at: new Date(at * 1000 + SECOND).toISOString(),
    }),
  })

  test('does not hide it behind an operation of that time', () => {
    expect(verdictsOf(...shown, begun(past))).toEqual(['judged 0'])
  })

  test('does not keep the operation that made it from explaining it', () => {
    expect(verdictsOf(...shown, begun(T))).toEqual(['amount_and_time_match 0'])
  })

  test('does not hide it behind an expected change of that time', () => {
    const change = expectedChange({ subject: null, createdAt: T0 - 30 * MINUTE, expiresAt: T0 - 10 * MINUTE })
    expect(verdictsOf({ kind: 'expected_changes', expectedChanges: [change] }, ...shown)).toEqual(['judged 0'])
  })
})

describe('a cancellation that is backdated to before the connection', () => {
  const backdated = (more: object = {}) =>
    eventOf('subscription_canceled_with_backdating', T, { subscription: ended(BEFORE, T) }, more)

  test('is judged if its event shows that it was made later', () => {
    expect(verdictsOf(...read('subscription', ended(BEFORE, T)), ...backdated())).toEqual(['judged 0'])
    expect(verdictsOf(...read('subscription', ended(BEFORE, T + 600)), ...backdated())).toEqual(['judged 0'])
  })

  test('is judged if no event is read and the subscription changed later', () => {
    expect(verdictsOf(...read('subscription', ended(BEFORE, T)))).toEqual(['judged 0'])
  })

  test('is explained by the operation that made it', () => {
    const ours: Input = {
      kind: 'operation',
      operation: operation({ provider: 'subscription', kind: 'cancellation', subject: 'sub_1', amount: null }),
    }
    expect(verdictsOf(...read('subscription', ended(BEFORE, T)), ours)).toEqual(['amount_and_time_match 0'])
    expect(verdictsOf(...backdated(), ours)).toEqual(['amount_and_time_match 0'])
  })

  test('is explained if its event, or the last change, is from before the connection', () => {
    const old = ended(BEFORE, BEFORE)
    expect(verdictsOf(...read('subscription', old))).toEqual([`made_before_connection ${BEFORE - T}`])
    const event = eventOf('subscription_cancelled', BEFORE, { subscription: old })
    expect(verdictsOf(...read('subscription', ended(BEFORE, T)), ...event)).toEqual([
      `made_before_connection ${BEFORE - T}`,
    ])
  })

  test('is judged if an end had been set before the connection, and somebody ended it at once after it', () => {
    const object = ended(T, T, { cancel_schedule_created_at: BEFORE })
    const event = eventOf('subscription_cancelled', T, { subscription: object })
    expect(verdictsOf(...read('subscription', object), ...event)).toEqual(['judged 0'])
    // The biller carries out an end that was set before.
    const byItself = eventOf('subscription_cancelled', T, { subscription: object }, { source: 'scheduled_job' })
    expect(verdictsOf(...read('subscription', object), ...byItself)).toEqual([`made_before_connection ${BEFORE - T}`])
  })

  test('is judged if an end had been set before the connection, and somebody deleted the subscription before that end', () => {
    const set = {
      ...{ id: 'sub_1', status: 'non_renewing', cancelled_at: T + 20 * 86_400, cancel_schedule_created_at: BEFORE },
      updated_at: BEFORE,
    }
    const deleted = { ...set, deleted: true, updated_at: T }
    const event = eventOf('subscription_deleted', T, { subscription: deleted })
    expect(verdictsOf(...read('subscription', deleted), ...event)).toEqual(['judged 0'])
    const verdicts = verdictsOf(...read('subscription', set), ...read('subscription', deleted), ...event)
    expect(verdicts).toEqual([`made_before_connection ${BEFORE - T}`, 'judged 0'])
  })

  test('that was deleted later is no new cancellation', () => {
    const deletedLater = { ...ended(BEFORE, BEFORE), deleted: true }
    const event = eventOf('subscription_deleted', T, { subscription: deletedLater })
    expect(verdictsOf(...event)).toEqual([`made_before_connection ${BEFORE - T}`])
  })
})

describe('an end that somebody sets, at a site that shows it like the end of the plan', () => {
  const end = T + 20 * 86_400
  const lastTerm = (updated_at: number, more: object = {}) => ({
    ...{ id: 'sub_1', status: 'non_renewing', cancelled_at: end, current_term_end: end, remaining_billing_cycles: 0 },
    ...{ updated_at, resource_version: updated_at * 1000 },
    ...more,
  })
  const setEnd = (more: object = {}) =>
    eventOf('subscription_cancellation_scheduled', T, { subscription: lastTerm(T) }, more)
  const carriedOut = lastTerm(end, { status: 'cancelled' })
  const states = (...inputs: Input[]) => {
    const [one, other] = [inputs, inputs.toReversed()].map(order =>
      lookAll(play(order.map(input => ({ at: T0 + 30 * DAY, input }))))
        .actions.map(({ kind, state, reason }) => `${kind} ${state} ${wordOf(reason)}`)
        .sort(),
    )
    expect(other).toEqual(one)
    return one
  }

  test.each([
    { source: 'admin_console', user: 'agent@example.com' },
    { source: 'api', user: 'key' },
    { source: 'portal', user: undefined },
    { source: 'none', user: undefined },
    { source: undefined, user: undefined },
  ])('is a cancellation by its event, made by $source', by => {
    expect(states(...read('subscription', lastTerm(T)), ...setEnd(by))).toEqual(['cancellation scheduled judged'])
  })

  test('is the same cancellation when the term changes in other fields and when the end comes', () => {
    const later = read('subscription', lastTerm(T + 600))
    const execution = eventOf('subscription_cancelled', end, { subscription: carriedOut }, { source: 'scheduled_job' })
    expect(states(...read('subscription', lastTerm(T)), ...setEnd(), ...later)).toEqual([
      'cancellation scheduled judged',
    ])
    expect(
      states(
        ...read('subscription', lastTerm(T)),
        ...setEnd(),
        ...later,
        ...read('subscription', carriedOut),
        ...execution,
      ),
    ).toEqual(['cancellation succeeded judged'])
  })

  test('is taken back when the subscription renews again', () => {
    const again = read('subscription', { id: 'sub_1', status: 'active', updated_at: T + 600 })
    expect(states(...read('subscription', lastTerm(T)), ...setEnd(), ...again)).toEqual([
      'cancellation canceled judged',
      'schedule_removal succeeded kind_is_not_judged',
    ])
    const nextTerm = read('subscription', lastTerm(T + 900))
    expect(states(...read('subscription', lastTerm(T)), ...setEnd(), ...again, ...nextTerm)).toEqual([
      'cancellation canceled judged',
      'schedule_removal succeeded kind_is_not_judged',
    ])
  })

  test('is explained by the operation that set it', () => {
    const ours: Input = {
      kind: 'operation',
      operation: operation({ provider: 'subscription', kind: 'cancellation', subject: 'sub_1', amount: null }),
    }
    expect(states(...read('subscription', lastTerm(T)), ...setEnd(), ours)).toEqual([
      'cancellation scheduled amount_and_time_match',
    ])
  })

  test('and the end of the plan without such an event is still no cancellation', () => {
    expect(states(...read('subscription', lastTerm(T)))).toEqual([])
    const execution = eventOf('subscription_cancelled', end, { subscription: carriedOut }, { source: 'scheduled_job' })
    expect(states(...read('subscription', lastTerm(T)), ...read('subscription', carriedOut), ...execution)).toEqual([
      'cancellation succeeded plan_ended',
    ])
  })

  test('at once, by somebody, is a cancellation', () => {
    const object = lastTerm(T, { status: 'cancelled', cancelled_at: T, current_term_end: T })
    expect(
      states(...read('subscription', object), ...eventOf('subscription_cancelled', T, { subscription: object })),
    ).toEqual(['cancellation succeeded judged'])
  })
})
