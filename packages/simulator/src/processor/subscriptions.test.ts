import { expect, test } from 'vitest'
import { createChance } from '../chance.ts'
import { type CardProcessor, createCardProcessor } from './account.ts'

const START_MS = 1_764_000_000_000
const START_S = START_MS / 1000
const PERIOD_END_S = START_S + 30 * 86_400
const OURS = { idempotencyKey: 'op-7', requestId: 'req_ours' }

function setUp() {
  let clockMs = START_MS
  const processor = createCardProcessor({ now: () => clockMs, chance: createChance(1) })
  const { subscription, payment } = processor.subscribe({ amount: 4_999, currency: 'EUR' })
  const before = processor.events().length
  const emitted = () => processor.events().slice(before)
  return { processor, subscription, payment, emitted, pass: (ms: number) => (clockMs += ms) }
}

const BY_REQUEST = { id: 'req_ours', idempotency_key: 'op-7' }
const BY_ITSELF = { id: null, idempotency_key: null }

test.each<{
  name: string
  act: (processor: CardProcessor, id: string) => unknown
  emitted: string[]
  becomes: object
  previous?: object
  request: object
}>([
  {
    name: 'a cancellation scheduled by flag',
    act: (p, id) => p.scheduleCancel(id, { ...OURS, comment: 'op_7', feedback: 'unused' }),
    emitted: ['updated'],
    becomes: {
      status: 'active',
      cancel_at_period_end: true,
      cancel_at: PERIOD_END_S,
      canceled_at: START_S,
      cancellation_details: { reason: 'cancellation_requested', comment: 'op_7', feedback: 'unused' },
    },
    previous: {
      cancel_at_period_end: false,
      cancel_at: null,
      canceled_at: null,
      cancellation_details: { comment: null, feedback: null, reason: null },
    },
    request: BY_REQUEST,
  },
  {
    name: 'a cancellation scheduled by cancel_at alone',
    act: (p, id) => p.scheduleCancel(id, { ...OURS, by: 'cancel_at' }),
    emitted: ['updated'],
    becomes: { status: 'active', cancel_at_period_end: false, cancel_at: PERIOD_END_S },
    previous: { cancel_at: null, canceled_at: null, cancellation_details: { reason: null } },
    request: BY_REQUEST,
  },
  {
    name: 'a schedule that is removed',
    act: (p, id) => [p.scheduleCancel(id), p.unschedule(id, OURS)],
    emitted: ['updated', 'updated'],
    becomes: { cancel_at_period_end: false, cancel_at: null, canceled_at: null },
    request: BY_REQUEST,
  },
  {
    name: 'a schedule that is due',
    act: (p, id) => [p.scheduleCancel(id, OURS), p.endPeriod(id)],
    emitted: ['updated', 'deleted'],
    becomes: { status: 'canceled', canceled_at: START_S, cancellation_details: { reason: 'cancellation_requested' } },
    request: BY_ITSELF,
  },
  {
    name: 'a cancellation at once',
    act: (p, id) => p.cancel(id, OURS),
    emitted: ['deleted'],
    becomes: { status: 'canceled', canceled_at: START_S, ended_at: START_S, cancel_at: null },
    request: BY_REQUEST,
  },
  {
    name: 'a pause of collecting',
    act: (p, id) => p.pauseCollection(id, { ...OURS, behavior: 'void' }),
    emitted: ['updated'],
    becomes: { status: 'active', pause_collection: { behavior: 'void', resumes_at: null } },
    previous: { pause_collection: null },
    request: BY_REQUEST,
  },
  {
    name: 'the end of a pause of collecting',
    act: (p, id) => [p.pauseCollection(id), p.resumeCollection(id, OURS)],
    emitted: ['updated', 'updated'],
    becomes: { pause_collection: null },
    previous: { pause_collection: { behavior: 'void', resumes_at: null } },
    request: BY_REQUEST,
  },
  {
    name: 'a pause of the service',
    act: (p, id) => p.pause(id, OURS),
    emitted: ['updated', 'paused'],
    becomes: { status: 'paused', status_details: { paused: { subscription: { type: 'pause_requested' } } } },
    request: BY_REQUEST,
  },
  {
    name: 'the end of a pause of the service',
    act: (p, id) => [p.pause(id), p.resume(id, OURS)],
    emitted: ['updated', 'paused', 'updated', 'resumed'],
    becomes: { status: 'active' },
    request: BY_REQUEST,
  },
  {
    name: 'dunning that ends it',
    act: (p, id) => [p.missPayment(id), p.endDunning(id)],
    emitted: ['updated', 'deleted'],
    becomes: { status: 'canceled', cancellation_details: { reason: 'payment_failed' } },
    request: BY_ITSELF,
  },
  {
    name: 'a change that is not a cancellation',
    act: (p, id) => p.change(id, { ...OURS, metadata: { seat: '2' } }),
    emitted: ['updated'],
    becomes: { status: 'active', metadata: { seat: '2' } },
    previous: { metadata: { seat: null } },
    request: BY_REQUEST,
  },
])('a subscription emits the events of $name', ({ act, emitted, becomes, previous, request }) => {
  const world = setUp()
  act(world.processor, world.subscription.id)
  expect(world.emitted().map(event => event.type)).toEqual(emitted.map(name => `customer.subscription.${name}`))
  const last = world.emitted().at(-1)
  expect(last?.data.object).toMatchObject(becomes)
  if (previous !== undefined) expect(last?.data.previous_attributes).toEqual(previous)
  expect(last?.request).toEqual(request)
  expect(world.processor.subscriptions()).toEqual([last?.data.object])
})

test('charges the same customer and moves the period at a renewal', () => {
  const { processor, subscription, payment, emitted } = setUp()
  const renewed = processor.endPeriod(subscription.id)
  expect(renewed.items.data[0]).toMatchObject({ current_period_start: PERIOD_END_S })
  expect(emitted().map(event => event.type)).toEqual(['charge.succeeded', 'customer.subscription.updated'])
  expect(processor.charges().map(charge => charge.customer)).toEqual([payment.customer.id, payment.customer.id])
})

test('shows a cancellation by a schedule object only there until it is due', () => {
  const { processor, subscription, emitted } = setUp()
  const schedule = processor.scheduleCancelByObject(subscription.id)
  expect(emitted().map(event => event.type)).toEqual(['subscription_schedule.created', 'customer.subscription.updated'])
  expect(emitted()[0]?.request).toEqual(emitted()[1]?.request)
  expect(emitted()[1]?.data.object).toMatchObject({
    cancel_at: null,
    cancel_at_period_end: false,
    schedule: schedule.id,
  })
  expect(schedule).toMatchObject({ status: 'active', end_behavior: 'cancel', subscription: subscription.id })
  processor.endPeriod(subscription.id)
  expect(emitted().at(-1)).toMatchObject({ type: 'customer.subscription.deleted', request: { id: null } })
  expect(processor.asOf(START_MS).schedules.get(schedule.id)).toMatchObject({ status: 'completed' })
})

test.each<{
  name: string
  act: (processor: CardProcessor, schedule: string, id: string) => unknown
  emitted: string[]
}>([
  {
    name: 'is changed',
    act: (p, schedule) => p.changeSchedule(schedule, { ...OURS, endBehavior: 'release' }),
    emitted: ['subscription_schedule.updated'],
  },
  {
    name: 'is released: the subscription continues',
    act: (p, schedule) => p.releaseSchedule(schedule, OURS),
    emitted: ['subscription_schedule.released', 'customer.subscription.updated'],
  },
  {
    name: 'is cancelled: the subscription ends at once',
    act: (p, schedule) => p.cancelSchedule(schedule, OURS),
    emitted: ['subscription_schedule.canceled', 'customer.subscription.deleted'],
  },
  {
    name: 'ends',
    act: (p, _, id) => p.endPeriod(id),
    emitted: ['subscription_schedule.completed', 'customer.subscription.deleted'],
  },
  {
    name: 'ends with its subscription',
    act: (p, _, id) => p.cancel(id, OURS),
    emitted: ['subscription_schedule.canceled', 'customer.subscription.deleted'],
  },
  {
    name: 'ends with a subscription whose payment failed',
    act: (p, _, id) => p.endDunning(id),
    emitted: ['subscription_schedule.aborted', 'customer.subscription.deleted'],
  },
])('a schedule that $name emits its own events and those of its subscription', ({ act, emitted: expected }) => {
  const { processor, subscription, emitted } = setUp()
  const schedule = processor.scheduleCancelByObject(subscription.id)
  const before = emitted().length
  act(processor, schedule.id, subscription.id)
  const events = emitted().slice(before)
  expect(events.map(event => event.type)).toEqual(expected)
  expect(events.map(event => event.request)).toEqual(events.map(() => events[0]?.request))
})

test('refuses to change a subscription that has ended', () => {
  const { processor, subscription } = setUp()
  processor.cancel(subscription.id)
  expect(() => processor.unschedule(subscription.id)).toThrow(/canceled subscription/)
})

test('refuses to refund a disputed charge', () => {
  const { processor, payment, emitted } = setUp()
  const dispute = processor.dispute(payment.charge.id)
  expect(() => processor.refund({ charge: payment.charge.id })).toThrow(/charged back/)
  processor.closeDispute(dispute.id, 'lost')
  expect(emitted().map(event => event.type)).toEqual(['charge.dispute.created', 'charge.dispute.closed'])
})
