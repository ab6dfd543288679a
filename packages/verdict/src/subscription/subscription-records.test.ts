import type { ProviderKind } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { alertsOf, emptyCase, lookAll, MINUTE, operationSeen, play, SECOND, T0 } from '../../test/fixtures.ts'
import {
  baselineInput,
  endedSubscription,
  scheduledCancellation,
  sightingInput,
  subscriptionShown,
} from '../../test/sightings.ts'
import type { Case } from '../case/case.ts'
import type { Input } from '../decide/decide.ts'

const HOUR = 60 * MINUTE
const at = (input: Input, ms = T0 + HOUR) => ({ at: ms, input })
const playAll = (...inputs: Input[]) => play(inputs.map(input => at(input)))
const records = (theCase: Case) =>
  theCase.actions.map(({ kind, state, verdict }) => `${kind} ${state} ${verdict}`).sort()
/** A snapshot of an active subscription at this second. */
const running = (second: number) => subscriptionShown({ asOf: T0 + second * SECOND })
const setAt = (second: number, more: Parameters<typeof scheduledCancellation>[1] = {}) =>
  scheduledCancellation(T0 + second * SECOND, more)
type PausePhase = 'none' | 'scheduled' | 'paused'
const pauseShown = (phase: PausePhase, second: number, before?: PausePhase) =>
  subscriptionShown({
    asOf: T0 + second * SECOND,
    pause: { phase },
    before: before === undefined ? null : { cancellation: null, pause: before },
  })

describe('snapshots of a subscription show', () => {
  test.each([
    { name: 'that it is active', shows: [running(0)], records: [] },
    { name: 'that its end is scheduled', shows: [setAt(0)], records: ['cancellation scheduled pending'] },
    {
      name: 'that the scheduled end took effect: the same action',
      shows: [setAt(0), endedSubscription(T0, { asOf: T0 + 60 * SECOND })],
      records: ['cancellation succeeded pending'],
    },
    {
      name: 'that the end was requested again: the same action',
      shows: [setAt(0), setAt(5)],
      records: ['cancellation scheduled pending'],
    },
    {
      name: 'that the end was removed',
      shows: [setAt(0), running(5)],
      records: ['cancellation canceled pending', 'schedule_removal succeeded not_alerted'],
    },
    {
      name: 'that the end was removed, even if no snapshot shows it as scheduled',
      shows: [subscriptionShown({ asOf: T0, before: { cancellation: 'scheduled', pause: null } })],
      records: ['schedule_removal succeeded not_alerted'],
    },
    {
      name: 'that it was reactivated, and then ended again: two cancellations',
      shows: [endedSubscription(T0), running(5), endedSubscription(T0 + 9 * SECOND)],
      records: ['cancellation reversed pending', 'cancellation succeeded pending', 'resume succeeded not_alerted'],
    },
    {
      name: 'that an end was scheduled again after it had been removed, as only the later event states',
      shows: [setAt(0), setAt(9, { before: { cancellation: 'none', pause: null } })],
      records: [
        'cancellation canceled pending',
        'cancellation scheduled pending',
        'schedule_removal succeeded not_alerted',
      ],
    },
    {
      name: 'that it was paused as scheduled, and continues',
      shows: [pauseShown('scheduled', 0), pauseShown('paused', 5), pauseShown('none', 9)],
      records: ['pause succeeded not_alerted', 'resume succeeded not_alerted'],
    },
    {
      name: 'that a pause was removed before it began',
      shows: [pauseShown('scheduled', 0), pauseShown('none', 9)],
      records: ['pause canceled not_alerted', 'schedule_removal succeeded not_alerted'],
    },
    {
      name: 'that it was paused, and then ended: nobody resumed it',
      shows: [pauseShown('paused', 0), endedSubscription(T0 + 9 * SECOND)],
      records: ['cancellation succeeded pending', 'pause succeeded not_alerted'],
    },
    {
      name: 'that a pause was scheduled, and that it ended before',
      shows: [pauseShown('scheduled', 0), endedSubscription(T0 + 9 * SECOND)],
      records: ['cancellation succeeded pending', 'pause canceled not_alerted'],
    },
    {
      name: 'that it was paused, resumed and then ended',
      shows: [pauseShown('paused', 0), pauseShown('none', 5), endedSubscription(T0 + 9 * SECOND)],
      records: ['cancellation succeeded pending', 'pause succeeded not_alerted', 'resume succeeded not_alerted'],
    },
    {
      name: 'that it was paused, and that it was not when it ended, as the event of its end states',
      shows: [
        pauseShown('paused', 0),
        endedSubscription(T0 + 9 * SECOND, { before: { cancellation: 'none', pause: 'none' } }),
      ],
      records: ['cancellation succeeded pending', 'pause succeeded not_alerted', 'resume succeeded not_alerted'],
    },
    {
      name: 'that it was paused, ended, and reactivated',
      shows: [pauseShown('paused', 0), endedSubscription(T0 + 5 * SECOND), running(9)],
      records: ['cancellation reversed pending', 'pause succeeded not_alerted', 'resume succeeded not_alerted'],
    },
    {
      name: 'that it had no end in the second in which the end was scheduled, as it was read before',
      shows: [setAt(0), running(0)],
      records: ['cancellation scheduled pending'],
    },
    {
      name: 'that the end was removed and scheduled again within one second',
      shows: [
        setAt(0),
        subscriptionShown({ asOf: T0 + 5 * SECOND, before: { cancellation: 'scheduled', pause: null } }),
        setAt(5, { before: { cancellation: 'none', pause: null } }),
      ],
      records: [
        'cancellation canceled pending',
        'cancellation scheduled pending',
        'schedule_removal succeeded not_alerted',
      ],
    },
    {
      name: 'that an end was scheduled and removed within one second',
      shows: [
        setAt(5, { before: { cancellation: 'none', pause: null } }),
        subscriptionShown({ asOf: T0 + 5 * SECOND, before: { cancellation: 'scheduled', pause: null } }),
      ],
      records: ['cancellation canceled pending', 'schedule_removal succeeded not_alerted'],
    },
  ])('$name', ({ shows, records: expected }) => {
    const inputs = shows.map(one => sightingInput(one))
    expect(records(playAll(...inputs))).toEqual(expected)
    expect(records(playAll(...inputs.toReversed()))).toEqual(expected)
    expect(records(playAll(...inputs, ...inputs))).toEqual(expected)
  })

  test('a removal that the next cancellation states, and that an older snapshot shows later, is one removal', () => {
    const ended = endedSubscription(T0 + 60 * SECOND, { before: { cancellation: 'none', pause: null } })
    const shown = [running(-60), setAt(0), running(30), ended].map(one => sightingInput(one))
    const expected = [
      'cancellation canceled pending',
      'cancellation succeeded pending',
      'schedule_removal succeeded not_alerted',
    ]
    const [before, set, removed, end] = shown as [Input, Input, Input, Input]
    expect(records(playAll(...shown))).toEqual(expected)
    expect(records(playAll(end, before, set, removed))).toEqual(expected)
  })

  test('a re-read out of order adds no second cancellation of one request', () => {
    const stale = subscriptionShown({ asOf: T0 + 2 * SECOND })
    const again = setAt(0, { asOf: T0 + 9 * SECOND })
    expect(records(playAll(sightingInput(setAt(0)), sightingInput(stale), sightingInput(again)))).toEqual([
      'cancellation scheduled pending',
    ])
    expect(records(playAll(sightingInput(again), sightingInput(stale), sightingInput(setAt(0))))).toEqual([
      'cancellation scheduled pending',
    ])
  })

  test.each([
    {
      name: 'in the second in which it continues, and before that',
      reads: pauseShown('paused', 5),
      events: [pauseShown('paused', 0), pauseShown('none', 5, 'paused')],
      records: ['pause succeeded not_alerted', 'resume succeeded not_alerted'],
    },
    {
      name: 'on a page that was requested a little before the pause',
      reads: pauseShown('paused', 5),
      events: [pauseShown('none', 0), pauseShown('paused', 9, 'none')],
      records: ['pause succeeded not_alerted'],
    },
    {
      name: 'on a page that was requested a little before it continued',
      reads: pauseShown('none', 5),
      events: [pauseShown('paused', 0), pauseShown('none', 9, 'paused')],
      records: ['pause succeeded not_alerted', 'resume succeeded not_alerted'],
    },
    {
      name: 'in a pause of which only the end was reported, and then paused again',
      reads: pauseShown('paused', 5),
      events: [pauseShown('none', 0), pauseShown('none', 30, 'paused'), pauseShown('paused', 64, 'none')],
      records: ['pause succeeded not_alerted', 'pause succeeded not_alerted', 'resume succeeded not_alerted'],
    },
  ])('show a pause once if it is read $name', ({ reads, events, records: expected }) => {
    const inputs = [
      sightingInput(reads, { eventId: null, eventType: 'sweep', readFor: 'sweep' }),
      ...events.map(one => sightingInput(one)),
    ]
    expect(records(playAll(...inputs))).toEqual(expected)
    expect(records(playAll(...inputs.toReversed()))).toEqual(expected)
  })

  test('an older snapshot that arrives late changes no action id and causes no second alert', () => {
    const reseller = (asOf: number) => scheduledCancellation(null, { provider: 'reseller', asOf })
    const first = lookAll(playAll(sightingInput(reseller(T0 + 9 * SECOND))))
    const [known] = first.actions
    const later = lookAll(play([at(sightingInput(reseller(T0)))], first))
    expect(later.actions.map(action => action.id)).toEqual([known?.id])
    expect(later.actions[0]?.providerCreatedAt).toBe(T0)
    expect(alertsOf(later)).toEqual(['incident.opened'])
  })

  test('a late snapshot that splits a cancellation in two leaves the first part its id', () => {
    const one = playAll(sightingInput(setAt(0)), sightingInput(setAt(9)))
    const two = play([at(sightingInput(running(5)))], one)
    expect(one.actions).toHaveLength(1)
    expect(
      two.actions.filter(action => action.kind === 'cancellation').map(action => action.providerCreatedAt),
    ).toEqual([T0, T0 + 9 * SECOND])
    expect(two.actions[0]?.id).toBe(one.actions[0]?.id)
  })

  test('unchanged snapshots are all kept while a late snapshot may split them', () => {
    const theCase = playAll(
      ...[0, 100, 50].map(second => sightingInput(running(second))),
      sightingInput(setAt(20)),
      sightingInput(setAt(80)),
    )
    expect(theCase.actions.filter(action => action.kind === 'cancellation')).toHaveLength(2)
  })

  test('a subscription with irrelevant changes every day does not fill its case', () => {
    const days = Array.from({ length: 365 }, (_, day) => at(sightingInput(running(day * 86_400))))
    expect(play(days, emptyCase()).subscriptions[0]?.snapshots.length).toBeLessThan(20)
  })

  test('the timeline has each relevant event once, and re-reads only if they show a change', () => {
    const sweep = { eventId: null, eventType: 'sweep', readFor: 'sweep' } as const
    const theCase = playAll(
      sightingInput(setAt(0)),
      sightingInput(setAt(0)),
      sightingInput(setAt(0, { asOf: T0 + 5 * SECOND }), sweep),
    )
    expect(theCase.actions[0]?.timeline.map(entry => entry.what)).toEqual(['event_received'])
  })
})

test('a request that seemed to remove an end adds no key to the cancellation, if the cancellation is read again', () => {
  const inputs = [
    sightingInput(setAt(0, { idempotencyKey: 'sets' })),
    sightingInput(
      subscriptionShown({
        asOf: T0 + 2 * SECOND,
        before: { cancellation: 'scheduled', pause: null },
        idempotencyKey: 'takes-back',
      }),
    ),
    sightingInput(setAt(0, { asOf: T0 + 9 * SECOND }), { eventId: null, eventType: 'sweep', readFor: 'sweep' }),
  ]
  for (const order of [inputs, inputs.toReversed()]) {
    expect(playAll(...order).actions).toMatchObject([{ kind: 'cancellation', idempotencyKeys: ['sets'] }])
  }
})

describe('an operation that cancels', () => {
  test('explains the request, and its effect a month later', () => {
    const cancels = operationSeen({ kind: 'cancellation', subject: 'sub_1', amount: null, currency: null })
    const month = T0 + 30 * 24 * HOUR
    const set = lookAll(playAll(cancels, sightingInput(setAt(0))))
    const done = lookAll(play([at(sightingInput(endedSubscription(T0, { asOf: month })), month)], set))
    expect(done.actions).toMatchObject([{ state: 'succeeded', verdict: 'explained', operationId: 'op_1' }])
    expect(alertsOf(done)).toEqual([])
  })

  test('with the key of a later request does not explain an end that somebody else had scheduled before', () => {
    const late = operationSeen({
      kind: 'cancellation',
      subject: 'sub_1',
      amount: null,
      currency: null,
      idempotency_key: 'k',
      executing_at: new Date(T0 + 2 * HOUR).toISOString(),
      ended_at: new Date(T0 + 2 * HOUR + SECOND).toISOString(),
    })
    const ends = endedSubscription(T0 + 2 * HOUR, { idempotencyKey: 'k' })
    expect(lookAll(playAll(late, sightingInput(setAt(0)), sightingInput(ends))).actions).toMatchObject([
      { verdict: 'unexplained', providerCreatedAt: T0, idempotencyKeys: [] },
      { verdict: 'explained', providerCreatedAt: T0 + 2 * HOUR },
    ])
  })
})

test('an end of the provider that turns out to be requested by somebody alerts', () => {
  const planEnd = scheduledCancellation(null, { provider: 'subscription', cancellation: { cause: 'plan_end' } })
  const theCase = playAll(sightingInput(planEnd))
  expect(theCase.actions).toMatchObject([{ verdict: 'not_alerted', reason: 'plan_ended', look: null }])
  const asked = scheduledCancellation(T0 + 9 * SECOND, { provider: 'subscription' })
  expect(play([at(sightingInput(asked))], theCase).actions).toMatchObject([
    { verdict: 'pending', providerCreatedAt: T0 + 9000 },
  ])
})

describe('a scheduled end in the baseline, with no time at which it was set,', () => {
  const connection = { id: 'con_a', createdAt: T0 + 5 * SECOND }
  const shownBy = (provider: ProviderKind, second: number) => [
    baselineInput(scheduledCancellation(null, { provider, asOf: T0 + second * SECOND }), { connection }),
    sightingInput(endedSubscription(null, { provider, asOf: T0 + 30 * 24 * HOUR }), { connection }),
  ]

  test.each([
    { provider: 'reseller', second: 4, reason: 'made_before_connection' },
    { provider: 'subscription', second: 4, reason: 'made_before_connection' },
    // The processor gives no version, so it is not known when the subscription was changed.
    { provider: 'processor', second: 6, reason: 'scheduled_before' },
  ] as const)('is explained at the $provider, and so is its effect', ({ provider, second, reason }) => {
    expect(playAll(...shownBy(provider, second)).actions).toMatchObject([
      { verdict: 'explained', reason, state: 'succeeded' },
    ])
  })

  test.each(['reseller', 'subscription'] as const)(
    'is judged at the %s if the subscription was changed after the connection was made',
    provider => {
      expect(playAll(...shownBy(provider, 6)).actions).toMatchObject([{ verdict: 'pending', state: 'succeeded' }])
    },
  )
})

test('a baseline that is read long after the connection was made does not explain a change that an event reported since', () => {
  const set = scheduledCancellation(null, { provider: 'reseller' })
  const alerted = lookAll(playAll(sightingInput(set)))
  expect(alerted.actions).toMatchObject([{ verdict: 'unexplained' }])
  expect(play([at(baselineInput(set), T0 + 48 * HOUR)], alerted).actions).toMatchObject([{ verdict: 'unexplained' }])
  expect(playAll(baselineInput(set), sightingInput(set)).actions).toMatchObject([{ verdict: 'pending' }])
})

describe('an end that was backdated to before the connection, of a subscription that was shown as active since', () => {
  const shown = subscriptionShown({ provider: 'subscription', asOf: T0 - 30 * MINUTE })
  const effectiveAt = T0 - 72 * HOUR
  const backdated = endedSubscription(null, { provider: 'subscription', cancellation: { effectiveAt } })

  test('was made after the connection', () => {
    expect(playAll(sightingInput(shown), sightingInput(backdated)).actions).toMatchObject([
      { verdict: 'pending', providerCreatedAt: T0 },
    ])
  })

  test('is explained by the operation that made it', () => {
    const made = { kind: 'cancellation', provider: 'subscription', subject: 'sub_1', amount: null } as const
    const theCase = playAll(operationSeen({ ...made, currency: null }), sightingInput(shown), sightingInput(backdated))
    expect(theCase.actions).toMatchObject([{ verdict: 'explained' }])
  })
})

test('an end that is scheduled again soon after another one was read is a separate action', () => {
  const read = sightingInput(setAt(3), { eventId: null, readFor: 'sweep' })
  const anew = sightingInput(setAt(20, { before: { cancellation: 'none', pause: null } }))
  for (const order of [playAll(read, anew), playAll(anew, read)]) {
    expect(records(order)).toEqual([
      'cancellation canceled pending',
      'cancellation scheduled pending',
      'schedule_removal succeeded not_alerted',
    ])
  }
})
