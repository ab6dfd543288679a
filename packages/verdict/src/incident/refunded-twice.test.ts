import { readFileSync } from 'node:fs'
import type { Operation } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import {
  CONNECTION,
  contextAt,
  lookAll,
  MINUTE,
  operationSeen,
  play,
  type RefundFacts,
  refundSeen,
  SECOND,
  secondLooks,
  T0,
} from '../../test/fixtures.ts'
import type { ActionRecord } from '../case/action-record.ts'
import type { Case, RefundedTwiceSetting, RefundedTwiceSettings } from '../case/case.ts'
import { decide, type Input } from '../decide/decide.ts'
import { mergeCases } from '../decide/merge.ts'
import { projectIncidents } from '../show/projection.ts'
import { type ComparedRefund, compareRefunds, findRepeats, TWICE_ANSWERS } from './refunded-twice.ts'

const HOUR = 60 * MINUTE
const RULE: RefundedTwiceSetting = { withinMs: HOUR, outOfBand: 'auto' }
const at = (ms: number) => new Date(T0 + ms).toISOString()

function compared(more: Partial<ComparedRefund>): ComparedRefund {
  return {
    action_id: 'act_1',
    connection_ids: [CONNECTION],
    provider: 'processor',
    kind: 'refund',
    subject: 'pi_1',
    provider_ref: 're_1',
    amount: 2499,
    currency: 'eur',
    state: 'succeeded',
    provider_created_at: at(0),
    verdict: 'explained',
    operation_id: 'op_1',
    ...more,
  }
}

const first = compared({})
const second = compared({
  action_id: 'act_2',
  provider_ref: 're_2',
  operation_id: 'op_2',
  provider_created_at: at(3 * MINUTE),
})
const number = (invoice: string) => ({ number: invoice, plan: null, refund_reason: null, destination: null })
const biller = { provider: 'subscription', subject: 'sub_1' } as const

describe('a second refund', () => {
  test.each<{
    name: string
    answer: string
    a?: Partial<ComparedRefund>
    b?: Partial<ComparedRefund>
    rule?: RefundedTwiceSettings
  }>([
    { name: 'of the same payment and amount by another operation', answer: 'refunded_twice' },
    { name: 'exactly at the end of the time', b: { provider_created_at: at(HOUR) }, answer: 'refunded_twice' },
    { name: 'that is pending: money is about to move', b: { state: 'pending' }, answer: 'refunded_twice' },
    { name: 'a second too late', b: { provider_created_at: at(HOUR + SECOND) }, answer: 'too_late' },
    { name: 'by the same operation', b: { operation_id: 'op_1' }, answer: 'same_operation' },
    { name: 'explained by an expected change', b: { operation_id: null }, answer: 'no_refund_of_ours' },
    { name: 'that is unexplained', b: { verdict: 'unexplained', operation_id: null }, answer: 'no_refund_of_ours' },
    { name: 'that is still judged', a: { verdict: 'pending', operation_id: null }, answer: 'no_refund_of_ours' },
    { name: 'that is a cancellation', b: { kind: 'cancellation' }, answer: 'no_refund_of_ours' },
    { name: 'that only a total shows', a: { provider_ref: null }, answer: 'no_id' },
    { name: 'of another payment', b: { subject: 'pi_2' }, answer: 'other_payment' },
    { name: 'of another amount', b: { amount: 2500 }, answer: 'other_amount' },
    { name: 'of another currency', b: { currency: 'usd' }, answer: 'other_amount' },
    { name: 'without an amount', a: { amount: null }, b: { amount: null }, answer: 'other_amount' },
    { name: 'without a currency', a: { currency: null }, b: { currency: null }, answer: 'other_amount' },
    { name: 'that failed', b: { state: 'failed' }, answer: 'no_money_moved' },
    { name: 'after one that was canceled', a: { state: 'canceled' }, answer: 'no_money_moved' },
    { name: 'after one that was rejected', a: { state: 'rejected' }, answer: 'no_money_moved' },
    { name: 'after one that was taken back', a: { state: 'reversed' }, answer: 'no_money_moved' },
    { name: 'of an authorization', b: { authorization_released: true }, answer: 'no_money_moved' },
    { name: 'of a connection without the rule', rule: {}, answer: 'rule_is_off' },
    { name: 'of a connection that switched it off', rule: { [CONNECTION]: null }, answer: 'rule_is_off' },
    { name: 'through another connection only', b: { connection_ids: ['con_b'] }, answer: 'rule_is_off' },
    {
      name: 'of a connection that ignores',
      rule: { [CONNECTION]: { ...RULE, outOfBand: 'ignore' } },
      answer: 'out_of_band_ignore',
    },
    {
      name: 'that a second connection with a longer time shows',
      a: { connection_ids: [CONNECTION, 'con_b'] },
      b: { connection_ids: [CONNECTION, 'con_b'], provider_created_at: at(2 * HOUR) },
      rule: { [CONNECTION]: RULE, con_b: { ...RULE, withinMs: 3 * HOUR } },
      answer: 'refunded_twice',
    },
    { name: "of a biller's subscription", a: biller, b: biller, answer: 'other_payment' },
    {
      name: "of another month of a biller's subscription",
      a: { ...biller, payment: number('INV-1') },
      b: { ...biller, payment: number('INV-2') },
      answer: 'other_payment',
    },
    {
      name: "of one invoice of a biller's subscription",
      a: { ...biller, payment: number('INV-1') },
      b: { ...biller, payment: number('INV-1') },
      answer: 'refunded_twice',
    },
  ])('$name: $answer', ({ a, b, rule = { [CONNECTION]: RULE }, answer }) => {
    expect(compareRefunds({ ...first, ...a }, { ...second, ...b }, rule)).toMatchObject({ answer })
  })

  test('has each of its answers in docs/decisions', () => {
    const page = readFileSync(new URL('../../../../docs/decisions/refunded-twice.md', import.meta.url), 'utf8')
    expect([...page.matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, answer]) => answer)).toEqual([...TWICE_ANSWERS])
  })

  test('is found with the nearest one before it, in any order', () => {
    const third = { ...second, action_id: 'act_3', provider_ref: 're_3', operation_id: 'op_3' }
    const refunds = [{ ...third, provider_created_at: at(5 * MINUTE) }, first, second]
    for (const order of [refunds, refunds.toReversed()]) {
      const found = findRepeats(order, { [CONNECTION]: RULE })
      expect(found.map(({ refund, refundedTwice }) => [refund.action_id, refundedTwice.earlier.action_id])).toEqual([
        ['act_2', 'act_1'],
        ['act_3', 'act_2'],
      ])
    }
  })
})

const refund = (number: number, more: RefundFacts = {}): Input =>
  refundSeen({ id: `re_${number}`, createdAt: T0 + number * MINUTE, ...more }, { refundedTwice: RULE })
const made = (number: number, more: Partial<Operation> = {}): Input =>
  operationSeen({
    operation_id: `op_${number}`,
    provider_ref: `re_${number}`,
    executing_at: at(number * MINUTE),
    ended_at: at(number * MINUTE + SECOND),
    ...more,
  })
const playAll = (inputs: readonly Input[], start?: Case) =>
  play(
    inputs.map((input, index) => ({ at: T0 + 2 * MINUTE + index * SECOND, input })),
    start,
  )
const incidents = (theCase: Case) =>
  projectIncidents(theCase)
    .map(({ incident }) => incident)
    .filter(({ code }) => code === 'REFUNDED_TWICE')
const alerts = (theCase: Case) =>
  theCase.outbox.flatMap(({ topic, message }) => {
    const { event, data } = message as { event: string; data: { incident?: { code: string } } }
    return topic === 'alerts' && data.incident?.code === 'REFUNDED_TWICE' ? [event] : []
  })
const recordOf = (theCase: Case, ref: string) =>
  theCase.actions.find(({ providerRef }) => providerRef === ref) as ActionRecord

const BOTH = [refund(1), made(1), refund(2), made(2)] as const

describe('the incident about it', () => {
  test.each([
    { name: 'operations first', inputs: [made(1), made(2), refund(1), refund(2)] },
    { name: 'operations last', inputs: [refund(1), refund(2), made(1), made(2)] },
    { name: 'the second refund first', inputs: [made(2), refund(2), made(1), refund(1)] },
    { name: 'everything twice', inputs: [...BOTH, ...BOTH] },
  ])('opens once, names both, and leaves both explained: $name', ({ inputs }) => {
    const theCase = playAll(inputs)
    expect(theCase.actions.map(({ verdict }) => verdict)).toEqual(['explained', 'explained'])
    expect(incidents(theCase)).toMatchObject([
      {
        state: 'open',
        action_id: recordOf(theCase, 're_2').id,
        connection_id: CONNECTION,
        out_of_band: 'auto',
        summary:
          'A refund of EUR 24.99 on pi_1 was made twice, by operation op_1 (re_1) and again by operation op_2 (re_2)',
        refunded_twice: {
          operation_id: 'op_2',
          earlier: { action_id: recordOf(theCase, 're_1').id, provider_ref: 're_1', operation_id: 'op_1' },
        },
      },
    ])
    expect(alerts(theCase)).toEqual(['incident.opened'])
  })

  test('has one id in every process', () => {
    const [one, other] = [playAll(BOTH), playAll([made(2), made(1), refund(2), refund(1)])]
    expect(incidents(one)[0]?.incident_id).toBe(incidents(other)[0]?.incident_id)
  })

  test('does not open without the rule, and a case without the rule stays as it is', () => {
    const theCase = playAll([refundSeen({ id: 're_1' }), made(1), refundSeen({ id: 're_2' }), made(2)])
    expect(theCase.refundedTwice).toBeUndefined()
    expect(incidents(theCase)).toEqual([])
  })

  test('opens for refunds of the time before the rule, once a notification after it arrives', () => {
    const before = playAll([refundSeen({ id: 're_1' }), made(1)])
    expect(alerts(playAll([refund(2), made(2)], before))).toEqual(['incident.opened'])
  })

  test('does not open after the rule was switched off', () => {
    const off = playAll([refundSeen({ id: 're_2', createdAt: T0 + MINUTE }), made(2)], playAll([refund(1), made(1)]))
    expect(off.refundedTwice).toEqual({ [CONNECTION]: null })
    expect(incidents(off)).toEqual([])
  })

  test('opens once for each of several repetitions', () => {
    const theCase = playAll([...BOTH, refund(3), made(3)])
    expect(incidents(theCase).map(({ refunded_twice }) => refunded_twice?.earlier.provider_ref)).toEqual([
      're_1',
      're_2',
    ])
  })

  test('survives the merge of two cases, with the settings of both', () => {
    const [one, two] = [playAll([refund(1), made(1)]), { ...playAll([refund(2), made(2)]), id: 'sub_other' }]
    const { merged } = mergeCases(one, two, T0 + 5 * MINUTE)
    expect(alerts(playAll([refund(2, { eventType: 'refund.updated' })], merged))).toEqual(['incident.opened'])
  })
})

describe('the incident resolves by itself', () => {
  test.each(['failed', 'canceled'])('if the second refund turns out %s', status => {
    const theCase = playAll([...BOTH, refund(2, { status, eventType: 'refund.updated' })])
    expect(alerts(theCase)).toEqual(['incident.opened', 'incident.resolved'])
    expect(incidents(theCase)).toMatchObject([
      { state: 'resolved', resolved_by: null, resolution: expect.stringContaining('No money moved by re_2') },
    ])
  })

  test('if the first refund turns out failed, also after the rule was switched off', () => {
    const off = refundSeen({ id: 're_1', status: 'failed', eventType: 'refund.failed' })
    expect(alerts(playAll([...BOTH, off]))).toEqual(['incident.opened', 'incident.resolved'])
  })

  test('if an operation turns out to be about another refund, at the second look that alerts about this one', () => {
    const inputs = [refund(1), refund(2), made(1), made(2, { provider_ref: null })]
    const lost = playAll([...inputs, made(2, { provider_ref: 're_9', version: 2 })])
    expect(recordOf(lost, 're_2').verdict).toBe('pending')
    expect(alerts(lost)).toEqual(['incident.opened'])
    const looked = lookAll(lost)
    expect(recordOf(looked, 're_2').verdict).toBe('unexplained')
    expect(alerts(looked)).toEqual(['incident.opened', 'incident.resolved'])
    // An operation that names it afterwards repeats the refund again, so people are alerted again.
    const again = playAll([made(3, { provider_ref: 're_2' })], looked)
    expect(alerts(again)).toEqual(['incident.opened', 'incident.resolved', 'incident.opened'])
    expect(new Set(incidents(again).map(({ incident_id }) => incident_id)).size).toBe(2)
  })

  test('not while an explanation is only missing, and is found again within the minute', () => {
    const inputs = [refund(1), refund(2), made(1), made(2, { provider_ref: null })]
    const lost = playAll([...inputs, made(2, { provider_ref: 're_9', version: 2 })])
    expect(secondLooks(lost)).toHaveLength(1)
    expect(alerts(playAll([made(3, { provider_ref: 're_2' })], lost))).toEqual(['incident.opened'])
  })
})

test('a resolution by a person stands, and can be undone only while both refunds stand', () => {
  const open = playAll(BOTH)
  const [incident] = incidents(open)
  const change = (theCase: Case, kind: 'resolve' | 'reopen') => {
    const change = kind === 'resolve' ? ({ kind, reason: 'our_own_change', note: null } as const) : ({ kind } as const)
    const command = {
      kind: 'change_incident',
      command_id: `cmd_${kind}`,
      project_id: 'prj_test',
      incident_id: incident?.incident_id ?? '',
      ref: '',
      requested_at: at(0),
      actor: { kind: 'person', id: 'per_ann', name: 'Ann' },
      change,
    } as const
    return decide(theCase, { kind: 'change_incident', command } as unknown as Input, contextAt(T0 + HOUR))
  }
  const closed = change(open, 'resolve')
  expect(incidents(playAll([refund(2, { eventType: 'refund.updated' })], closed))).toMatchObject([
    { state: 'resolved' },
  ])
  expect(incidents(change(closed, 'reopen'))).toMatchObject([{ state: 'open' }])
  const failed = playAll([refund(2, { status: 'failed', eventType: 'refund.failed' })], closed)
  expect(incidents(change(failed, 'reopen'))).toMatchObject([{ state: 'resolved' }])
})
