/** An end that the provider causes by itself needs no operation, and takes none from an end that somebody requested. */
import type { ProviderKind } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { lookAll, MINUTE, operation, play, SECOND, T0 } from '../../test/fixtures.ts'
import {
  endedSubscription,
  refundShown,
  type SubscriptionShown,
  scheduledCancellation,
  sightingInput,
  subscriptionShown,
} from '../../test/sightings.ts'
import type { Case } from '../case/case.ts'
import type { Input } from './decide.ts'

/** Providers give whole seconds, so the set end seems to be made before the operation began. */
const BEGUN = { executing_at: new Date(T0 + 600).toISOString(), ended_at: new Date(T0 + 2 * SECOND).toISOString() }
const setEndBy = (provider: ProviderKind): Input => ({
  kind: 'operation',
  operation: operation({ provider, kind: 'cancellation', subject: 'sub_1', amount: null, currency: null, ...BEGUN }),
})
const verdictsIn = (theCase: Case) =>
  theCase.actions
    .map(({ state, verdict, reason, operationId }) => `${state} ${verdict} ${reason} ${operationId}`)
    .sort()
const playShuffled = (inputs: readonly Input[]) =>
  [inputs, inputs.toReversed()].map(order =>
    verdictsIn(lookAll(play(order.map(input => ({ at: T0 + MINUTE, input }))))),
  )

/** How each provider shows that it ended the subscription by itself, this long after the end was set. */
const ENDS: Record<ProviderKind, (afterMs: number) => SubscriptionShown> = {
  processor: afterMs => ({ cancellation: { requestedAt: T0 + afterMs, cause: 'involuntary' } }),
  reseller: () => ({}),
  subscription: () => ({ cancellation: { requestedAt: null, cause: 'not_billable' } }),
}
const REASONS = { processor: 'involuntary_end', reseller: 'involuntary_end', subscription: 'not_billable' }

describe.each(['processor', 'reseller', 'subscription'] as const)('an end that the %s causes by itself', provider => {
  const requestedAt = provider === 'reseller' ? null : T0
  const isPastDue = provider === 'reseller'

  test.each([1, 400, 900, SECOND, 2 * SECOND, 5 * MINUTE])(
    'takes no operation from the end that our software set %i ms before',
    afterMs => {
      const asOf = T0 + afterMs
      const inputs = [
        setEndBy(provider),
        sightingInput(subscriptionShown({ provider, asOf: T0 - SECOND, isPastDue })),
        sightingInput(scheduledCancellation(requestedAt, { provider, asOf: T0, isPastDue })),
        sightingInput(endedSubscription(null, { provider, asOf, isPastDue, ...ENDS[provider](afterMs) })),
      ]
      for (const verdicts of playShuffled(inputs)) {
        expect(verdicts).toEqual([
          'canceled explained amount_and_time_match op_1',
          `succeeded not_alerted ${REASONS[provider]} null`,
        ])
      }
    },
  )

  test('takes no operation that agrees with it', () => {
    const asOf = T0 + SECOND
    const inputs = [
      setEndBy(provider),
      sightingInput(subscriptionShown({ provider, asOf: T0 - SECOND, isPastDue })),
      sightingInput(endedSubscription(null, { provider, asOf, isPastDue, ...ENDS[provider](SECOND) })),
    ]
    for (const verdicts of playShuffled(inputs)) {
      expect(verdicts).toEqual([`succeeded not_alerted ${REASONS[provider]} null`])
    }
  })
})

test('an expired authorization takes no operation from an equal refund, except for one that names it', () => {
  const expired = refundShown({ providerRef: 're_0', createdAt: T0, isExpiredAuthorization: true })
  const refund = refundShown({ providerRef: 're_1', createdAt: T0 + 5 * SECOND })
  for (const verdicts of playShuffled([
    { kind: 'operation', operation: operation() },
    sightingInput(expired),
    sightingInput(refund),
  ])) {
    expect(verdicts).toEqual([
      'canceled not_alerted authorization_expired null',
      'succeeded explained amount_and_time_match op_1',
    ])
  }
})
