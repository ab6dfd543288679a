/** Scheduled ends of subscriptions that a schedule manages, from events and objects of the card processor. */
import { PROVIDERS } from '@backstop/providers'
import { type CardProcessor, createCardProcessor, createChance, type ProcessorEvent } from '@backstop/simulator'
import { describe, expect, test } from 'vitest'
import { CONNECTION, lookAll, MINUTE, operationSeen, PROJECT, play, SECOND, sourceOf, T0 } from '../../test/fixtures.ts'
import type { Case, SightingSource } from '../case/case.ts'
import type { Input } from './decide.ts'

const DAY = 86_400_000
const OURS = { idempotencyKey: 'op-7', requestId: 'req_ours' }

function openAccount() {
  let now = T0
  const account = createCardProcessor({ now: () => now, chance: createChance(5) })
  const { subscription } = account.subscribe({ amount: 4_999, currency: 'eur' })
  const before = account.events().length
  const events = () => account.events().slice(before).map(eventSeen)
  const pass = (ms: number) => (now += ms)
  const read = (source?: Partial<SightingSource>) => readings(account, subscription.id, now, source)
  return {
    account,
    id: subscription.id,
    events,
    pass,
    read,
    /** Reads the subscription, and its schedule two seconds later. */
    readApart(source?: Partial<SightingSource>) {
      const [shown] = read(source)
      pass(2 * SECOND)
      return [shown, read(source)[1]].filter(reading => reading !== undefined)
    },
  }
}

function sightingIn(
  meaning: ReturnType<typeof PROVIDERS.processor.normaliseObject>,
  source: Parameters<typeof sourceOf>,
) {
  if (meaning.kind !== 'observed') throw new Error(`It shows nothing: ${JSON.stringify(meaning)}`)
  const [first] = meaning.sightings
  if (first === undefined) throw new Error('It shows nothing')
  return { kind: 'sighting', sighting: first, source: sourceOf(...source) } as Extract<Input, { kind: 'sighting' }>
}

function eventSeen(event: ProcessorEvent): { at: number; input: Input } {
  const origin = { projectId: PROJECT, connectionId: CONNECTION, eventId: event.id, eventType: event.type }
  const meaning = PROVIDERS.processor.normaliseEvent(origin, { ...event })
  if (meaning.kind === 'hint') throw new Error('The processor signs its events')
  return { at: event.created * 1000, input: sightingIn(meaning, [event.id, event.type]) }
}

/** The sightings of a re-read of a subscription: the subscription, and its schedule. */
function readings(
  account: CardProcessor,
  id: string,
  now: number,
  source: Partial<SightingSource> = {},
): { at: number; input: Input }[] {
  const records = account.asOf(now)
  const subscription = records.subscriptions.get(id)
  const schedule = records.schedules.get(String(subscription?.schedule))
  const origin = { projectId: PROJECT, connectionId: CONNECTION, site: null, readAt: now }
  return [subscription, schedule]
    .filter(object => object !== undefined)
    .map(object => {
      const meaning = PROVIDERS.processor.normaliseObject(origin, object.object, { ...object })
      return { at: now, input: sightingIn(meaning, ['', 'sweep', { eventId: null, readFor: 'sweep', ...source }]) }
    })
}

const operationInput = (facts: Parameters<typeof operationSeen>[0]) => ({
  at: T0,
  input: operationSeen({ kind: 'cancellation', amount: null, currency: null, ...facts }),
})
const actionsOf = (theCase: Case) =>
  theCase.actions.map(({ kind, state, verdict, reason }) => `${kind} ${state} ${verdict} ${reason}`).sort()
const UNEXPLAINED = 'cancellation scheduled unexplained nothing_explains_it'

describe('a cancellation that a schedule sets', () => {
  test('is judged when it is scheduled, even if the subscription does not show it', () => {
    const { account, id, events } = openAccount()
    account.scheduleCancelByObject(id, OURS)
    const theCase = lookAll(play(events()))
    expect(actionsOf(theCase)).toEqual([UNEXPLAINED])
    expect(theCase.actions).toMatchObject([{ subject: id, providerCreatedAt: T0, idempotencyKeys: ['op-7'] }])
  })

  test.each([
    { name: 'names the subscription', facts: ({ id }: Ids) => ({ subject: id }), reason: 'amount_and_time_match' },
    {
      name: 'names the schedule',
      facts: ({ schedule }: Ids) => ({ subject: schedule }),
      reason: 'amount_and_time_match',
    },
    {
      name: 'reports the schedule as its object',
      facts: ({ schedule }: Ids) => ({ subject: 'cus_1', provider_ref: schedule }),
      reason: 'amount_and_time_match',
    },
    {
      name: 'sent the key of the request',
      facts: () => ({ subject: 'sub_other', idempotency_key: 'op-7' }),
      reason: 'idempotency_key_matches',
    },
  ])('is explained by the operation that $name, and so is its end a month later', ({ facts, reason }) => {
    const { account, id, events, pass } = openAccount()
    const schedule = account.scheduleCancelByObject(id, OURS).id
    pass(30 * DAY)
    account.endPeriod(id)
    for (const order of [events(), events().toReversed()]) {
      const theCase = lookAll(play([operationInput(facts({ id, schedule })), ...order]))
      expect(actionsOf(theCase)).toEqual([`cancellation succeeded explained ${reason}`])
    }
  })

  test('is not explained by an operation that executed an hour earlier or later', () => {
    const { account, id, events, pass } = openAccount()
    pass(60 * MINUTE)
    account.scheduleCancelByObject(id)
    expect(actionsOf(lookAll(play([operationInput({ subject: id }), ...events()])))).toEqual([UNEXPLAINED])
  })

  test('is found by re-reads alone, with a request time after the last snapshot without it', () => {
    const { account, id, pass, read } = openAccount()
    const before = read()
    pass(10 * MINUTE)
    account.scheduleCancelByObject(id)
    pass(60 * MINUTE)
    const explained = operationInput({
      subject: id,
      executing_at: new Date(T0 + 10 * MINUTE).toISOString(),
      ended_at: new Date(T0 + 10 * MINUTE + SECOND).toISOString(),
    })
    expect(actionsOf(lookAll(play([...before, ...read()])))).toEqual([UNEXPLAINED])
    expect(actionsOf(lookAll(play([explained, ...before, ...read()])))).toEqual([
      'cancellation scheduled explained amount_and_time_match',
    ])
    // A month later the end has its own time, which is not the time of the request.
    const set = read()
    pass(30 * DAY)
    account.endPeriod(id)
    expect(actionsOf(lookAll(play([explained, ...before, ...set, ...read()])))).toEqual([
      'cancellation succeeded explained amount_and_time_match',
    ])
  })

  test('is explained by an operation from before the reading of a subscription whose schedule was not read yet', () => {
    const { account, id, pass, readApart } = openAccount()
    account.scheduleCancelByObject(id)
    pass(120 * MINUTE)
    expect(actionsOf(lookAll(play([operationInput({ subject: id }), ...readApart()])))).toEqual([
      'cancellation scheduled explained amount_and_time_match',
    ])
  })

  test('is explained by an operation from between the last reading of the schedule and a later one of the subscription', () => {
    const { account, id, pass, read, readApart } = openAccount()
    const { id: scheduleId } = account.scheduleByObject(id)
    const known = read()
    pass(60 * MINUTE)
    account.changeSchedule(scheduleId, { endBehavior: 'cancel' })
    const operated = operationInput({
      subject: id,
      executing_at: new Date(T0 + 60 * MINUTE).toISOString(),
      ended_at: new Date(T0 + 60 * MINUTE + SECOND).toISOString(),
    })
    pass(30 * MINUTE)
    expect(actionsOf(lookAll(play([...known, operated, ...readApart()])))).toEqual([
      'cancellation scheduled explained amount_and_time_match',
    ])
  })

  test('is explained by the operation that brought it forward, if a later reading shows the subscription first', () => {
    const { account, id, pass, read, readApart } = openAccount()
    const { id: scheduleId } = account.scheduleCancelByObject(id)
    const known = read()
    pass(60 * MINUTE)
    account.changeSchedule(scheduleId, { endsAtMs: T0 + 5 * DAY })
    const operated = operationInput({
      operation_id: 'op_2',
      subject: id,
      executing_at: new Date(T0 + 60 * MINUTE).toISOString(),
      ended_at: new Date(T0 + 60 * MINUTE + SECOND).toISOString(),
    })
    pass(30 * MINUTE)
    expect(actionsOf(lookAll(play([operationInput({ subject: id }), ...known, operated, ...readApart()])))).toEqual([
      'cancellation canceled explained amount_and_time_match',
      'cancellation scheduled explained amount_and_time_match',
    ])
  })

  test('is set before the connection if the baseline reads the subscription first and the schedule a moment later', () => {
    const { account, id, pass, readApart } = openAccount()
    account.scheduleCancelByObject(id)
    pass(60 * MINUTE)
    const connection = { id: CONNECTION, createdAt: T0 + 60 * MINUTE }
    expect(actionsOf(lookAll(play(readApart({ readFor: 'baseline', connection }))))).toEqual([
      'cancellation scheduled explained scheduled_before',
    ])
  })

  test('is one action if its events arrive first, and if a re-read does', () => {
    const { account, id, events, pass, read } = openAccount()
    account.scheduleCancelByObject(id)
    const early = read()
    pass(5 * MINUTE)
    const all = [...early, ...events(), ...read()]
    for (const order of [all, all.toReversed()]) expect(actionsOf(lookAll(play(order)))).toEqual([UNEXPLAINED])
  })

  test.each([
    { name: 'is released', act: (account: CardProcessor, schedule: string) => account.releaseSchedule(schedule) },
    {
      name: 'lets the subscription continue',
      act: (account: CardProcessor, schedule: string) => account.changeSchedule(schedule, { endBehavior: 'release' }),
    },
  ])('is removed when the schedule $name, and a new one is judged separately', ({ act }) => {
    const { account, id, events, pass, read } = openAccount()
    const schedule = account.scheduleCancelByObject(id)
    const set = read()
    pass(10 * MINUTE)
    act(account, schedule.id)
    const removed = [
      'cancellation canceled unexplained nothing_explains_it',
      'schedule_removal succeeded not_alerted kind_is_not_judged',
    ]
    for (const order of [events(), events().toReversed(), [...set, ...read()]]) {
      expect(actionsOf(lookAll(play(order)))).toEqual(removed)
    }
    const first = operationInput({ subject: id })
    pass(10 * MINUTE)
    if (account.asOf(T0 + DAY).subscriptions.get(id)?.schedule === null) account.scheduleCancelByObject(id)
    else account.changeSchedule(schedule.id, { endBehavior: 'cancel' })
    for (const order of [events(), events().toReversed()]) {
      expect(actionsOf(lookAll(play([first, ...order])))).toEqual([
        'cancellation canceled explained amount_and_time_match',
        UNEXPLAINED,
        removed[1],
      ])
    }
  })

  test('is not removed by another change of the subscription', () => {
    const { account, id, events, pass } = openAccount()
    account.scheduleCancelByObject(id)
    pass(10 * MINUTE)
    account.change(id, { quantity: 2 })
    expect(actionsOf(lookAll(play(events())))).toEqual([UNEXPLAINED])
  })

  test('that ends because a payment failed is one action by a person, and one by the processor', () => {
    const { account, id, events, pass } = openAccount()
    account.scheduleByObject(id)
    pass(10 * MINUTE)
    account.missPayment(id)
    account.endDunning(id)
    for (const order of [events(), events().toReversed()]) {
      expect(actionsOf(lookAll(play(order)))).toEqual(['cancellation succeeded not_alerted involuntary_end'])
    }
  })

  test('whose schedule is cancelled ends immediately by that request, which two events report', () => {
    const { account, id, events } = openAccount()
    const schedule = account.scheduleByObject(id)
    account.cancelSchedule(schedule.id, OURS)
    for (const order of [events(), events().toReversed()]) {
      const theCase = lookAll(play([operationInput({ subject: 'sub_other', idempotency_key: 'op-7' }), ...order]))
      expect(actionsOf(theCase)).toEqual(['cancellation succeeded explained idempotency_key_matches'])
    }
  })
})

interface Ids {
  readonly id: string
  readonly schedule: string
}

test('a schedule that releases its subscription is no cancellation, even if the subscription shows the end of its phase', () => {
  const { account, id, events, pass } = openAccount()
  account.scheduleByObject(id)
  const end = account.subscriptions()[0]?.items.data[0]?.current_period_end
  const set = events().map(({ at, input }) => {
    if (input.kind !== 'sighting' || input.sighting.kind !== 'subscription') return { at, input }
    const { sighting: shown } = input
    if (shown.source?.kind !== 'subscription' || shown.source.scheduleId === null) return { at, input }
    const cancellation = { ...shown.cancellation, phase: 'scheduled', effectiveAt: Number(end) * 1000 } as const
    return { at, input: { ...input, sighting: { ...shown, cancellation } } }
  })
  expect(actionsOf(lookAll(play(set)))).toEqual([])
  // After the release the schedule no longer ends the subscription. The same end date is then another request.
  pass(10 * MINUTE)
  account.releaseSchedule(String(account.subscriptions()[0]?.schedule))
  account.scheduleCancel(id)
  expect(actionsOf(lookAll(play(events())))).toEqual([UNEXPLAINED])
})
