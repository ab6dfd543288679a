/**
 * A scheduled cancellation, and a second request that ends the subscription earlier. They are two actions with their
 * own verdicts.
 */
import type { ProviderKind } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import {
  alertsOf,
  contextAt,
  emptyCase,
  look,
  lookAll,
  lookFacts,
  MINUTE,
  operationSeen,
  play,
  policy,
  SECOND,
  secondLooks,
  T0,
} from '../../test/fixtures.ts'
import { endedSubscription, scheduledCancellation, sightingInput, subscriptionShown } from '../../test/sightings.ts'
import type { Case } from '../case/case.ts'
import { decide } from './decide.ts'

const DAY = 86_400_000
const HOUR = 60 * MINUTE
const LATER = T0 + 10 * DAY
const PROVIDERS: readonly ProviderKind[] = ['processor', 'reseller', 'subscription']

type Shown = Parameters<typeof sightingInput>[0]
const actionsOf = (theCase: Case) =>
  theCase.actions.map(({ kind, state, verdict }) => `${kind} ${state} ${verdict}`).sort()
const judged = (shown: readonly Shown[], operations: ReturnType<typeof cancelsAt>[] = []) =>
  looked(play([...operations, ...shown.map(one => sightingInput(one))].map(input => ({ at: LATER + DAY, input }))))
/** The biller is asked before a verdict. Its answer shows the same data again. */
const looked = (theCase: Case) => {
  const facts = lookFacts([policy({ canRead: true })])
  return secondLooks(lookAll(theCase)).reduce(
    (next, pending) =>
      decide(
        decide(next, look(pending, facts), contextAt(pending.dueAt)),
        look(pending, facts, 'read'),
        contextAt(pending.dueAt),
      ),
    lookAll(theCase),
  )
}
const cancelsAt = (provider: ProviderKind, at: number, more: Parameters<typeof operationSeen>[0] = {}) =>
  operationSeen({
    operation_id: `op_${at}`,
    kind: 'cancellation',
    provider,
    subject: 'sub_1',
    amount: null,
    currency: null,
    executing_at: new Date(at).toISOString(),
    ended_at: new Date(at + SECOND).toISOString(),
    ...more,
  })

/**
 * A scheduled cancellation in each provider's data. The reseller never gives the time of a request; the biller gives it
 * for scheduled ends only.
 */
const setAt = (provider: ProviderKind, at: number, more: Parameters<typeof scheduledCancellation>[1] = {}) =>
  scheduledCancellation(provider === 'reseller' ? null : at, { provider, asOf: at, ...more })
const endedNow = (provider: ProviderKind, at: number, more: Parameters<typeof endedSubscription>[1] = {}) =>
  endedSubscription(provider === 'processor' ? at : null, { provider, asOf: at, ...more })

describe.each(PROVIDERS)(
  'an end that was scheduled at the %s provider, and then made immediate by another request',
  provider => {
    const shown = [setAt(provider, T0), endedNow(provider, LATER)]

    test('is two actions, in any order of arrival', () => {
      const two = ['cancellation canceled unexplained', 'cancellation succeeded unexplained']
      expect(actionsOf(judged(shown))).toEqual(two)
      expect(actionsOf(judged(shown.toReversed()))).toEqual(two)
      expect(actionsOf(judged([...shown, ...shown]))).toEqual(two)
    })

    test('is explained by the operation of the first request only for the first action', () => {
      const theCase = judged(shown, [cancelsAt(provider, T0)])
      expect(actionsOf(theCase)).toEqual(['cancellation canceled explained', 'cancellation succeeded unexplained'])
      expect(alertsOf(theCase)).toEqual(['incident.opened'])
    })

    test('is explained by its own operation', () => {
      const both = judged(shown, [cancelsAt(provider, T0), cancelsAt(provider, LATER)])
      expect(actionsOf(both)).toEqual(['cancellation canceled explained', 'cancellation succeeded explained'])
      expect(new Set(both.actions.map(action => action.operationId)).size).toBe(2)
      expect(alertsOf(both)).toEqual([])
    })

    test('alerts after the first action was explained, under another id', () => {
      const first = looked(
        play([cancelsAt(provider, T0), sightingInput(setAt(provider, T0))].map(input => ({ at: T0, input }))),
      )
      const [known] = first.actions
      const second = looked(play([{ at: LATER, input: sightingInput(endedNow(provider, LATER)) }], first))
      expect(second.actions).toMatchObject([
        { id: known?.id, state: 'canceled', verdict: 'explained' },
        { state: 'succeeded', verdict: 'unexplained' },
      ])
      expect(second.actions[1]?.id).not.toBe(known?.id)
    })
  },
)

describe.each(PROVIDERS)('an end that was scheduled at the %s provider is the same action', provider => {
  const one = ['cancellation succeeded unexplained']
  const comesAt = T0 + 30 * DAY
  const requestedAt = provider === 'reseller' ? null : T0

  test('if it comes as scheduled', () => {
    const comes = endedSubscription(requestedAt, { provider, asOf: comesAt })
    expect(actionsOf(judged([setAt(provider, T0), comes]))).toEqual(one)
    expect(actionsOf(judged([comes, setAt(provider, T0)]))).toEqual(one)
  })

  test('if it comes some minutes before its time', () => {
    expect(actionsOf(judged([setAt(provider, T0), endedNow(provider, comesAt - 50 * MINUTE)]))).toEqual(one)
  })

  test('if it is postponed', () => {
    const cancellation = { effectiveAt: T0 + 60 * DAY }
    const postponed = setAt(provider, LATER, { cancellation })
    expect(actionsOf(judged([setAt(provider, T0), postponed]))).toEqual(['cancellation scheduled unexplained'])
  })
})

test.each(PROVIDERS)('an end that is moved to an earlier time at the %s provider is another action', provider => {
  const forward = setAt(provider, LATER, { cancellation: { effectiveAt: LATER + HOUR } })
  for (const shown of [
    [setAt(provider, T0), forward],
    [forward, setAt(provider, T0)],
  ]) {
    expect(actionsOf(judged(shown, [cancelsAt(provider, T0)]))).toEqual([
      'cancellation canceled explained',
      'cancellation scheduled unexplained',
    ])
  }
})

test.each(PROVIDERS)(
  'an end that is moved to an earlier time in small steps at the %s provider is another action',
  provider => {
    const steps = [1, 2, 3].map(step => {
      const cancellation = { effectiveAt: T0 + 30 * DAY - step * 50 * MINUTE }
      return setAt(provider, LATER + step * MINUTE, { cancellation })
    })
    expect(actionsOf(judged([setAt(provider, T0), ...steps], [cancelsAt(provider, T0)]))).toEqual([
      'cancellation canceled explained',
      'cancellation scheduled unexplained',
    ])
  },
)

test('an end at the processor with the same request time is the same action, even if the period was shortened', () => {
  const early = endedSubscription(T0, { asOf: LATER })
  expect(actionsOf(judged([setAt('processor', T0), early]))).toEqual(['cancellation succeeded unexplained'])
})

test('an end at the biller before the scheduled day is another action, even if the request time is unchanged', () => {
  const early = endedSubscription(T0, { provider: 'subscription', asOf: LATER })
  const again = { ...early, asOf: LATER + HOUR }
  for (const shown of [
    [setAt('subscription', T0), early, again],
    [again, early, setAt('subscription', T0)],
  ]) {
    const theCase = judged(shown, [cancelsAt('subscription', T0)])
    expect(actionsOf(theCase)).toEqual(['cancellation canceled explained', 'cancellation succeeded unexplained'])
    expect(theCase.actions.map(action => action.providerCreatedAt).sort()).toEqual([T0, LATER])
  }
})

test('a late re-read of the first request after the second one changes nothing', () => {
  const stale = setAt('processor', T0, { asOf: LATER + 2 * SECOND })
  const shown = [setAt('processor', T0), endedNow('processor', LATER), stale]
  for (const order of [shown, shown.toReversed(), [stale, ...shown.slice(0, 2)]]) {
    const theCase = judged(order, [cancelsAt('processor', T0)])
    expect(actionsOf(theCase)).toEqual(['cancellation canceled explained', 'cancellation succeeded unexplained'])
  }
})

test('an end that was removed and scheduled again for an earlier time is two actions', () => {
  const shown = [
    setAt('processor', T0),
    subscriptionShown({ asOf: T0 + DAY }),
    setAt('processor', LATER, { cancellation: { effectiveAt: LATER + HOUR } }),
  ]
  expect(actionsOf(judged(shown))).toEqual([
    'cancellation canceled unexplained',
    'cancellation scheduled unexplained',
    'schedule_removal succeeded not_alerted',
  ])
})

test('a subscription that could not be collected before the scheduled end was ended by the provider', () => {
  const failed = endedSubscription(LATER, { cancellation: { cause: 'involuntary', detail: 'payment_failed' } })
  expect(actionsOf(judged([setAt('processor', T0), failed], [cancelsAt('processor', T0)]))).toEqual([
    'cancellation canceled explained',
    'cancellation succeeded not_alerted',
  ])
})

test('a merged record is split when a late snapshot shows the end before it, and the first part keeps its id', () => {
  const first = play([{ at: LATER, input: sightingInput(endedNow('processor', LATER)) }], emptyCase())
  const both = play([{ at: LATER + HOUR, input: sightingInput(setAt('processor', T0)) }], first)
  expect(both.actions.map(action => action.id)).toContain(first.actions[0]?.id)
  expect(both.actions).toHaveLength(2)
})

describe('the biller shows a subscription as ended twice, and nobody read the reactivation in between', () => {
  const endedAt = (at: number, more: Partial<Shown> = {}) =>
    endedSubscription(null, {
      provider: 'subscription',
      asOf: at,
      cancellation: { effectiveAt: at, isImmediate: true },
      ...more,
    } as Parameters<typeof endedSubscription>[1])

  test('the second end is a cancellation of its own, which the operation of the first does not explain', () => {
    const theCase = judged([endedAt(T0), endedAt(T0 + 30 * MINUTE)], [cancelsAt('subscription', T0)])
    expect(actionsOf(theCase)).toEqual(['cancellation reversed explained', 'cancellation succeeded unexplained'])
    expect(actionsOf(judged([endedAt(T0 + 30 * MINUTE), endedAt(T0)], [cancelsAt('subscription', T0)]))).toEqual(
      actionsOf(theCase),
    )
  })

  test('a later reading of the same end is the same cancellation', () => {
    const again = endedAt(T0, { asOf: T0 + 30 * MINUTE })
    expect(actionsOf(judged([endedAt(T0), again], [cancelsAt('subscription', T0)]))).toEqual([
      'cancellation succeeded explained',
    ])
  })
})
