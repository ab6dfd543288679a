/** The effects of verdicts on operations: differences, outcomes, and objects that the provider does not know. */
import { Alert, Command, type Operation, Reread } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import {
  alertsOf,
  contextAt,
  look,
  lookAll,
  lookFacts,
  MINUTE,
  onlyAction,
  operationSeen,
  play,
  policy,
  SECOND,
  T0,
} from '../../test/fixtures.ts'
import {
  endedSubscription,
  refundShown,
  scheduledCancellation,
  sightingInput,
  subscriptionShown,
} from '../../test/sightings.ts'
import type { Case } from '../case/case.ts'
import { type PendingLook, pendingLooks } from '../case/looks.ts'
import { decide, type Input } from './decide.ts'

const HOUR = 60 * MINUTE
const playAll = (...inputs: Input[]) => play(inputs.map(input => ({ at: T0, input })))
const operationOfRefund = (facts: Partial<Operation> = {}) => operationSeen({ provider_ref: 're_1', ...facts })
const driftsIn = (theCase: Case) =>
  theCase.outbox.flatMap(({ topic, message }) => {
    const alert = topic === 'alerts' ? Alert.parse(message) : undefined
    return alert?.event === 'drift.detected' ? [alert.data] : []
  })
const commandsIn = (theCase: Case) =>
  theCase.outbox.filter(entry => entry.topic === 'commands').map(entry => Command.parse(entry.message))

describe('drift', () => {
  test.each<{ name: string; shown?: Parameters<typeof refundShown>[0]; said?: Partial<Operation>; differs: string[] }>([
    { name: 'nothing', differs: [] },
    { name: 'the amount', said: { amount: 2500 }, differs: ['amount: EUR 25.00, EUR 24.99'] },
    { name: 'the currency', said: { currency: 'usd' }, differs: ['currency: usd, eur'] },
    { name: 'the payment', said: { subject: 'pi_9' }, differs: ['subject: pi_9, pi_1'] },
    { name: 'an amount that was never reported', said: { amount: null, currency: null }, differs: [] },
    { name: 'completed, and it failed', shown: { state: 'failed' }, differs: ['state: completed, failed'] },
    { name: 'completed, and it was canceled', shown: { state: 'canceled' }, differs: ['state: completed, canceled'] },
    {
      name: 'completed, and the review rejected it',
      shown: { state: 'rejected' },
      differs: ['state: completed, rejected'],
    },
    { name: 'completed, and the card network is slow', shown: { state: 'pending' }, differs: [] },
    { name: 'completed, and reversed by a later action', shown: { state: 'reversed' }, differs: [] },
    { name: 'failed, and it succeeded', said: { state: 'failed' }, differs: ['state: failed, succeeded'] },
    {
      name: 'failed, and it is pending',
      said: { state: 'failed' },
      shown: { state: 'pending' },
      differs: ['state: failed, pending'],
    },
    { name: 'failed, as it did', said: { state: 'failed' }, shown: { state: 'failed' }, differs: [] },
    { name: 'rejected, and it succeeded', said: { state: 'rejected' }, differs: ['state: rejected, succeeded'] },
    {
      name: 'rejected, and the review continues',
      said: { state: 'rejected' },
      shown: { state: 'pending' },
      differs: [],
    },
    { name: 'not ended yet', said: { state: 'executing', ended_at: null }, shown: { state: 'failed' }, differs: [] },
    {
      name: 'amount and state',
      said: { amount: 1 },
      shown: { state: 'failed' },
      differs: ['amount: EUR 0.01, EUR 24.99', 'state: completed, failed'],
    },
  ])('$name: $differs', ({ shown, said, differs }) => {
    const theCase = playAll(operationOfRefund(said), sightingInput(refundShown(shown)))
    const words = (list: readonly { field: string; operation_says: string; provider_says: string }[]) =>
      list.map(({ field, operation_says, provider_says }) => `${field}: ${operation_says}, ${provider_says}`)
    expect(words(onlyAction(theCase).differences)).toEqual(differs)
    expect(driftsIn(theCase).map(({ differences }) => words(differences))).toEqual(
      differs.length === 0 ? [] : [differs],
    )
  })

  const ofCustomer = (id: string) => ({ details: { customer: { id, name: null, email: null } } })
  test.each<{ name: string; shown?: Parameters<typeof refundShown>[0]; subject: string; differs: string | null }>([
    { name: 'the customer of a refund without a payment', shown: { about: [] }, subject: 'cus_1', differs: null },
    { name: 'the customer', shown: ofCustomer('cus_1'), subject: 'cus_1', differs: null },
    { name: 'another customer', shown: ofCustomer('cus_1'), subject: 'cus_2', differs: 'cus_1' },
    { name: 'a customer that the provider does not show', subject: 'cus_1', differs: null },
    { name: 'the invoice', subject: 'in_1', differs: null },
    { name: 'the subscription', subject: 'sub_1', differs: null },
    { name: 'the refund', subject: 're_1', differs: null },
    { name: 'another refund', subject: 're_2', differs: 're_1' },
    { name: 'another charge', shown: { about: ['pi_1', 'ch_1'] }, subject: 'py_2', differs: 'ch_1' },
    { name: 'an order of its own', subject: '77', differs: null },
    {
      name: "the reseller's customer",
      shown: { provider: 'reseller', about: ['txn_1', 'sub_1'], ...ofCustomer('ctm_1') },
      subject: 'ctm_1',
      differs: null,
    },
    {
      name: "another one of the reseller's subscriptions",
      shown: { provider: 'reseller', about: ['txn_1', 'sub_1'] },
      subject: 'sub_2',
      differs: 'sub_1',
    },
    {
      name: "the biller's customer",
      shown: { provider: 'subscription', about: ['sub-1', 'INV-1'], ...ofCustomer('shop customer') },
      subject: 'shop customer',
      differs: null,
    },
    {
      name: "another one of the biller's invoices",
      shown: { provider: 'subscription', about: ['sub-1', 'INV-1'] },
      subject: 'INV-2',
      differs: 'sub-1',
    },
  ])('an operation that made the refund and names $name', ({ shown, subject, differs }) => {
    const provider = shown?.provider ?? 'processor'
    const theCase = playAll(operationOfRefund({ provider, subject }), sightingInput(refundShown(shown)))
    const said = onlyAction(theCase)
    expect(said.reason).toBe('provider_ref_matches')
    expect(said.differences.map(({ field, provider_says }) => [field, provider_says])).toEqual(
      differs === null ? [] : [['subject', differs]],
    )
  })

  test('alerts once, and once more if another field differs', () => {
    const once = playAll(
      operationOfRefund({ amount: 1 }),
      sightingInput(refundShown()),
      sightingInput(refundShown()),
      operationOfRefund({ amount: 1, version: 2 }),
    )
    expect(alertsOf(once)).toEqual(['drift.detected'])
    const failed = sightingInput(refundShown({ state: 'failed' }), { eventId: 'failed' })
    expect(alertsOf(play([{ at: T0, input: failed }], once))).toEqual(['drift.detected', 'drift.detected'])
  })

  test('that is corrected is removed', () => {
    const mended = playAll(
      operationOfRefund({ amount: 1 }),
      sightingInput(refundShown()),
      operationOfRefund({ amount: 2499, version: 2 }),
    )
    expect(onlyAction(mended).differences).toEqual([])
  })

  test('of an operation that failed is removed without an alert if a second operation made the refund', () => {
    const theCase = playAll(
      operationSeen({ state: 'failed' }),
      sightingInput(refundShown()),
      operationOfRefund({ operation_id: 'op_again' }),
    )
    expect(onlyAction(theCase)).toMatchObject({ operationId: 'op_again', differences: [] })
    expect(driftsIn(theCase)).toMatchObject([{ differences: [{ field: 'state' }] }])
  })

  test('a cancellation whose operation failed, and which is scheduled, is drift', () => {
    const said = operationSeen({
      kind: 'cancellation',
      subject: 'sub_1',
      amount: null,
      currency: null,
      state: 'failed',
    })
    expect(driftsIn(playAll(said, sightingInput(scheduledCancellation(T0))))).toMatchObject([
      { differences: [{ field: 'state' }] },
    ])
  })
})

describe('an operation in review', () => {
  const awaiting = operationOfRefund({
    state: 'awaiting_review',
    ended_at: null,
    provider: 'reseller',
    provider_ref: 'adj_1',
  })
  const adjustment = (state: 'pending' | 'succeeded' | 'rejected' | 'failed') =>
    sightingInput(
      refundShown({
        provider: 'reseller',
        providerRef: 'adj_1',
        about: ['txn_1', 'pi_1'],
        state,
        stateVersion: { pending: 1, succeeded: 2, rejected: 2, failed: 2 }[state],
      }),
      { eventId: state },
    )

  test.each([
    { state: 'succeeded', to: 'completed' },
    { state: 'rejected', to: 'rejected' },
    { state: 'failed', to: 'failed' },
  ] as const)('is settled as $to when the provider shows $state, once', ({ state, to }) => {
    const theCase = playAll(
      awaiting,
      adjustment('pending'),
      adjustment(state),
      adjustment(state),
      adjustment('pending'),
    )
    expect(commandsIn(theCase)).toMatchObject([
      {
        kind: 'settle_operation',
        operation_id: 'op_1',
        to,
        provider_ref: 'adj_1',
        reason: expect.stringContaining(state),
      },
    ])
    const other = playAll(adjustment(state), awaiting)
    expect(commandsIn(other).map(command => command.command_id)).toEqual(commandsIn(theCase).map(c => c.command_id))
  })

  test('that the provider rejects opens one incident with one alert', () => {
    const theCase = lookAll(playAll(adjustment('rejected'), awaiting, adjustment('rejected')))
    expect(onlyAction(theCase).incidents).toMatchObject([{ code: 'REFUND_REJECTED', state: 'open', outOfBand: null }])
    expect(alertsOf(theCase)).toEqual(['incident.opened'])
    const [alert] = theCase.outbox.filter(entry => entry.topic === 'alerts').map(entry => Alert.parse(entry.message))
    expect(alert).toMatchObject({ data: { incident: { summary: expect.stringContaining('op_1') } } })
  })

  test('a rejected refund without an operation of ours is only unexplained', () => {
    const theCase = lookAll(playAll(adjustment('rejected')))
    expect(onlyAction(theCase).incidents.map(({ code }) => code)).toEqual(['UNEXPECTED_ACTION'])
  })

  test('waits if the provider has not decided, and is re-read in case its event is lost', () => {
    const theCase = playAll(adjustment('pending'), awaiting)
    expect(commandsIn(theCase)).toEqual([])
    const [pending] = pendingLooks(theCase)
    expect(pending).toMatchObject({ lookId: 'settlement/op_1', wakeAt: T0 + HOUR })
    const facts = lookFacts([policy({ provider: 'reseller', canRead: true })])
    const asked = decide(theCase, look(pending as PendingLook, facts), contextAt(T0 + HOUR))
    const reread = asked.outbox.filter(entry => entry.topic === 'rereads').map(entry => Reread.parse(entry.message))
    expect(reread).toMatchObject([{ reason: 'settlement', targets: [{ id: 'adj_1' }] }])
    const still = decide(asked, look(pending as PendingLook, facts, 'read'), contextAt(T0 + HOUR + MINUTE))
    expect(pendingLooks(still)).toMatchObject([{ dueAt: T0 + 7 * HOUR + MINUTE }])
    const completed = play([{ at: T0 + HOUR, input: adjustment('succeeded') }], asked)
    expect(pendingLooks(completed)).toEqual([])
    expect(commandsIn(completed)).toMatchObject([{ to: 'completed' }])
  })

  test('is not re-read for ever', () => {
    const month = T0 + 31 * 24 * HOUR
    const theCase = playAll(adjustment('pending'), awaiting)
    const late = decide(theCase, look(pendingLooks(theCase)[0] as PendingLook), contextAt(month))
    expect(pendingLooks(late)).toEqual([])
  })
})

describe('an operation that names a credit note which two refunds pay out', () => {
  const refundOfNote = (facts: Partial<Operation> = {}) =>
    operationSeen({ provider: 'subscription', subject: 'sub_1', provider_ref: 'CN-1', amount: 1300, ...facts })
  const paid = (id: string, amount: number, state: 'pending' | 'succeeded' | 'failed' = 'succeeded') =>
    sightingInput(
      refundShown({
        provider: 'subscription',
        providerRef: id,
        about: ['sub_1', 'CN-1'],
        creditNoteIds: ['CN-1'],
        amount,
        state,
        stateVersion: state === 'pending' ? 1 : 2,
      }),
      { eventId: `${id}_${state}` },
    )
  const made = (theCase: Case) => theCase.actions.map(({ verdict, operationId }) => `${verdict} ${operationId}`)

  test.each([
    { order: 'the operation first', inputs: [refundOfNote(), paid('txn_1', 500), paid('txn_2', 800)] },
    { order: 'the operation last', inputs: [paid('txn_2', 800), paid('txn_1', 500), refundOfNote()] },
  ])('explains both refunds without drift: $order', ({ inputs }) => {
    const theCase = playAll(...inputs)
    expect(made(theCase)).toEqual(['explained op_1', 'explained op_1'])
    expect(driftsIn(theCase)).toEqual([])
    expect(pendingLooks(theCase)).toEqual([])
  })

  test('explains no third refund that its amount does not cover', () => {
    const theCase = playAll(refundOfNote(), paid('txn_1', 500), paid('txn_2', 800), paid('txn_3', 1))
    expect(made(theCase)).toEqual(['explained op_1', 'explained op_1', 'pending null'])
  })

  test('explains the refund that replaces a failed one', () => {
    const theCase = playAll(refundOfNote(), paid('txn_1', 1300, 'failed'), paid('txn_2', 1300))
    expect(made(theCase)).toEqual(['explained op_1', 'explained op_1'])
  })

  test('gets its outcome when both refunds are decided: completed if one of them succeeded', () => {
    const awaiting = refundOfNote({ state: 'awaiting_review', ended_at: null })
    const half = playAll(awaiting, paid('txn_2', 800, 'pending'), paid('txn_1', 500))
    expect(commandsIn(half)).toEqual([])
    expect(pendingLooks(half)).toMatchObject([{ lookId: 'settlement/op_1' }])
    expect(commandsIn(play([{ at: T0, input: paid('txn_2', 800, 'failed') }], half))).toMatchObject([
      { to: 'completed', provider_ref: 'txn_1' },
    ])
  })
})

describe('an operation that is reported as completed', () => {
  const readable = lookFacts([policy({ canRead: true })])
  const [due] = pendingLooks(playAll(operationOfRefund()))
  const pending = due as PendingLook
  const at = T0 + SECOND + 15 * MINUTE

  test('is checked 15 minutes after its end if no object of it was seen', () => {
    expect(pending).toMatchObject({ lookId: 'missing_check/op_1', dueAt: at, wakeAt: at })
    expect(pendingLooks(playAll(operationOfRefund(), sightingInput(refundShown())))).toEqual([])
  })

  test.each(['not_found', 'read'] as const)('whose object the provider does not know (%s) is drift, once', outcome => {
    const asked = decide(playAll(operationOfRefund()), look(pending, readable), contextAt(at))
    const missing = decide(asked, look(pending, readable, outcome), contextAt(at + MINUTE))
    expect(driftsIn(missing)).toMatchObject([{ action: null, differences: [{ field: 'existence' }] }])
    expect(pendingLooks(missing)).toEqual([])
    expect(decide(missing, look(pending, readable, outcome), contextAt(at + MINUTE))).toEqual(missing)
  })

  test('has no drift if the answer shows its object', () => {
    const asked = decide(playAll(operationOfRefund()), look(pending, readable), contextAt(at))
    const shown = play(
      [{ at, input: sightingInput(refundShown(), { eventId: null, readFor: 'missing_check' }) }],
      asked,
    )
    expect(driftsIn(decide(shown, look(pending, readable, 'read'), contextAt(at + MINUTE)))).toEqual([])
    expect(onlyAction(shown).verdict).toBe('explained')
  })

  test('has no drift if it was reported twice, because the provider knows the refund that both reports name', () => {
    const twice = playAll(
      operationOfRefund(),
      operationOfRefund({ operation_id: 'op_2' }),
      sightingInput(refundShown()),
    )
    const [second] = pendingLooks(twice)
    if (second === undefined) throw new Error('Nothing is asked after')
    const asked = decide(twice, look(second, readable), contextAt(at))
    expect(driftsIn(decide(asked, look(second, readable, 'read'), contextAt(at + MINUTE)))).toEqual([])
  })

  test('is not checked if its connection cannot be read, or if it skipped its approval', () => {
    expect(pendingLooks(decide(playAll(operationOfRefund()), look(pending), contextAt(at)))).toEqual([])
    expect(pendingLooks(playAll(operationOfRefund({ unapproved: 'never_asked' })))).toEqual([])
  })

  test('is checked again for a day if the provider is unavailable', () => {
    const asked = decide(playAll(operationOfRefund()), look(pending, readable), contextAt(at))
    const unanswered = decide(asked, look(pending, readable, 'unavailable'), contextAt(at + MINUTE))
    expect(pendingLooks(unanswered)).toMatchObject([{ wakeAt: at + 6 * MINUTE }])
    const over = decide(unanswered, look(pending, readable, 'unavailable'), contextAt(at + 25 * HOUR))
    expect(pendingLooks(over)).toEqual([])
    expect(driftsIn(over)).toEqual([])
  })

  test.each([
    { name: 'ended by another request,', shown: endedSubscription(T0 - 2 * HOUR), drifts: 0 },
    { name: 'active', shown: subscriptionShown(), drifts: 1 },
  ])('of a cancellation whose subscription is $name', ({ shown, drifts }) => {
    const cancels = operationSeen({ kind: 'cancellation', subject: 'sub_1', amount: null, currency: null })
    const theCase = playAll(cancels, sightingInput(shown))
    const look1 = pendingLooks(theCase).find(({ kind }) => kind === 'operation') as PendingLook
    expect(driftsIn(decide(theCase, look(look1, readable, 'read'), contextAt(at)))).toHaveLength(drifts)
  })
})
