/** The details of refunds and cancellations come from every sighting of them, and change no verdict. */
import type { SightingDetails } from '@backstop/providers'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { because, madeBy, ofCustomer, shownDetails } from '../../test/details.ts'
import {
  alertsOf,
  emptyCase,
  lookAll,
  MINUTE,
  onlyAction,
  operationSeen,
  play,
  SECOND,
  T0,
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
import { changedRecords, projectAction, stampChanged } from '../show/projection.ts'
import type { Input } from './decide.ts'
import { mergeCases } from './merge.ts'

const playAll = (...inputs: Input[]) => play(inputs.map(input => ({ at: T0 + MINUTE, input })))
/** Plays the inputs forwards, backwards and twice, and expects the same details each time. */
function detailsInAnyOrder(kind: string, ...inputs: Input[]) {
  const read = (theCase: Case) =>
    theCase.actions
      .filter(action => action.kind === kind)
      .sort((a, b) => a.providerCreatedAt - b.providerCreatedAt)
      .map(shownDetails)
  const [forwards, ...others] = [inputs, inputs.toReversed(), [...inputs, ...inputs]].map(list =>
    read(playAll(...list)),
  )
  for (const other of others) expect(other).toEqual(forwards)
  return forwards ?? []
}
const cancelledBy = (user: string) => madeBy({ channel: 'dashboard', user })

describe('a refund shows', () => {
  test('the origin of its first event and the customer of its newest', () => {
    const first = refundShown({ provider: 'reseller', stateVersion: 1, state: 'pending', details: cancelledBy('bo') })
    const second = { ...first, stateVersion: 2, details: ofCustomer('Ann') }
    const third = { ...first, stateVersion: 3, details: { ...ofCustomer('Ann Lee'), ...madeBy({ user: 'eve' }) } }
    const [shown] = detailsInAnyOrder('refund', sightingInput(first), sightingInput(second), sightingInput(third))
    expect(shown).toMatchObject({
      origin: { channel: 'dashboard', user: 'bo' },
      customer: { name: 'Ann Lee' },
    })
  })

  test("the customer and the receipt of its charge, and not the origin of the charge's total", () => {
    const total = {
      ...totalShown(2499, 0, T0, T0 - MINUTE),
      details: { ...ofCustomer('Ann', 'ann@example.com'), ...cancelledBy('eve') },
    }
    const refund = refundShown({ details: madeBy({ channel: 'api', request_id: 'req_1' }) })
    const [shown] = detailsInAnyOrder('refund', sightingInput(total), sightingInput(refund))
    expect(shown).toMatchObject({
      origin: { channel: 'api', user: null, request_id: 'req_1' },
      customer: { name: 'Ann', email: 'ann@example.com' },
    })
  })

  test("the origin at the biller, because the gateway's origin is the biller", () => {
    const atGateway = refundShown({ details: madeBy({ channel: 'api', request_id: 'req_1' }) })
    const atBiller = refundShown({
      provider: 'subscription',
      providerRef: 'txn_1',
      gatewayRefs: ['re_1'],
      about: ['txn_0'],
      details: { ...cancelledBy('bo'), ...ofCustomer('Ann') },
    })
    const [shown, ...others] = detailsInAnyOrder('refund', sightingInput(atGateway), sightingInput(atBiller))
    expect(others).toEqual([])
    expect(shown).toMatchObject({
      origin: { channel: 'dashboard', user: 'bo', request_id: null },
      customer: { name: 'Ann' },
    })
  })

  test('the details of its total, if only the total proves it', () => {
    const total = { ...totalShown(2499, 0, T0, T0 - MINUTE), details: { ...ofCustomer('Ann'), ...cancelledBy('bo') } }
    const theCase = lookAll(playAll(sightingInput(total)))
    expect(shownDetails(onlyAction(theCase))).toMatchObject({ origin: { user: 'bo' }, customer: { name: 'Ann' } })
  })
})

describe('a refund that its total also shows', () => {
  const people = fc.record(
    {
      origin: fc.constantFrom('bo', 'eve').map(user => cancelledBy(user).origin!),
      customer: fc.constantFrom('Ann', 'Cy').map(name => ofCustomer(name).customer!),
    },
    { requiredKeys: [] },
  ) as fc.Arbitrary<SightingDetails>
  const steps = ['total', 'refund', 'look', 'look'] as const

  test('has the same details in every order of the refund, the total and the looks', () => {
    const orders = fc.shuffledSubarray([...steps], { minLength: steps.length, maxLength: steps.length })
    fc.assert(
      fc.property(people, people, orders, (ofTotal, ofRefund, order) => {
        const inputs = {
          total: sightingInput({ ...totalShown(2499, 0, T0, T0 - MINUTE), details: ofTotal }),
          refund: sightingInput(refundShown({ about: ['pi_1', 'ch_1'], details: ofRefund })),
        }
        const shownAfter = (list: readonly (typeof steps)[number][]) => {
          const theCase = list.reduce<Case>(
            (next, step) => (step === 'look' ? lookAll(next) : play([{ at: T0 + MINUTE, input: inputs[step] }], next)),
            emptyCase(),
          )
          return shownDetails(onlyAction(lookAll(theCase)))
        }
        expect(shownAfter(order)).toEqual(shownAfter(['refund', 'total', 'look', 'look']))
      }),
    )
  })
})

describe('a cancellation shows', () => {
  test('the origin of the request that scheduled it, and the customer of its subscription', () => {
    const before = subscriptionShown({ asOf: T0 - SECOND })
    const scheduled = { ...scheduledCancellation(T0), details: { ...cancelledBy('bo'), ...because('too dear') } }
    const ended = {
      ...endedSubscription(T0, { asOf: T0 + MINUTE }),
      details: { ...madeBy({ channel: 'automatic' }), ...ofCustomer('Ann') },
    }
    const [shown] = detailsInAnyOrder(
      'cancellation',
      sightingInput({ ...before, details: cancelledBy('eve') }),
      sightingInput(scheduled),
      sightingInput(ended),
    )
    expect(shown).toMatchObject({
      origin: { channel: 'dashboard', user: 'bo' },
      customer: { name: 'Ann' },
      payment: { refund_reason: 'too dear' },
    })
  })

  test('neither the origin nor the reason of an earlier cancellation of its subscription', () => {
    const first = { ...scheduledCancellation(T0), details: { ...cancelledBy('bo'), ...because('too dear') } }
    const removed = subscriptionShown({ asOf: T0 + 5 * SECOND })
    const second = { ...scheduledCancellation(T0 + 9 * SECOND), details: cancelledBy('eve') }
    const shown = detailsInAnyOrder('cancellation', ...[first, removed, second].map(one => sightingInput(one)))
    expect(shown.map(details => [details?.origin?.user, details?.payment?.refund_reason])).toEqual([
      ['bo', 'too dear'],
      ['eve', null],
    ])
  })
})

test('details change no verdict and no alert, and the action is listed again', () => {
  const alerted = { ...lookAll(playAll(sightingInput(refundShown()))), version: 2 }
  const known = stampChanged(alerted, undefined)
  const later = play([{ at: T0 + 9 * MINUTE, input: sightingInput(refundShown({ details: ofCustomer('Ann') })) }], {
    ...known,
    version: 3,
  })
  expect(alertsOf(later)).toEqual(alertsOf(alerted))
  expect(later.outbox).toEqual(alerted.outbox)
  const listed = changedRecords(stampChanged(later, known)).actions
  expect(listed.map(action => projectAction(later, action))).toMatchObject([
    { verdict: 'unexplained', customer: { name: 'Ann' }, timeline: onlyAction(alerted).timeline },
  ])
})

test('an explained action without details shows none', () => {
  const theCase = playAll(operationSeen(), sightingInput(refundShown()))
  expect(Object.keys(projectAction(theCase, onlyAction(theCase)))).not.toEqual(
    expect.arrayContaining([expect.stringMatching(/^(origin|customer|payment|mode|links)$/)]),
  )
})

test('cases that are merged keep the details of both', () => {
  const a = playAll(sightingInput(refundShown({ about: ['pi_1'], details: ofCustomer('Ann') })))
  const total = sightingInput({ ...totalShown(2499, 0, T0, T0 - MINUTE), details: cancelledBy('bo') })
  const b = { ...playAll(total), id: 'sub_other' }
  const { merged } = mergeCases(a, b, T0 + MINUTE)
  expect(merged.refundTotals[0]?.details).toEqual(b.refundTotals[0]?.details)
  expect(shownDetails(onlyAction(merged))).toMatchObject({ customer: { name: 'Ann' } })
})
