/**
 * A payment that is full, through the whole reconciler in memory. Further refunds are dead-lettered, and other events
 * are processed.
 */

import { HEADERS, type InboundEvent } from '@backstop/contracts'
import {
  type ActionRecord,
  type Case,
  type EvictedRecord,
  type Input,
  knownDetails,
  MAX_EVICTED,
  MAX_HELD,
  whyFull,
  whyRefused,
} from '@backstop/verdict'
import {
  contextAt,
  emptyCase,
  lookFacts,
  MINUTE,
  ofCustomer,
  onlyAction,
  operationSeen,
  PROJECT,
  play,
  refundSeen,
  T0,
  totalSeen,
} from '@backstop/verdict/test'
import { describe, expect, test } from 'vitest'
import { Workspace } from '../src/batch/workspace.ts'
import { startMemoryReconciler } from './memory-reconciler.ts'

const LOOKED = { dueAt: T0, askedAt: null, doneAt: T0 }

/** A payment with as many unexplained refunds as a case can hold. The first one is re_1. */
function fullCase(): Case {
  const seen = play([{ at: T0, input: refundSeen() }])
  const one = onlyAction(seen)
  const judged = { ...one, verdict: 'unexplained', reason: 'nothing_explains_it', look: LOOKED } as ActionRecord
  const others = Array.from(
    { length: MAX_HELD - 1 },
    (_, index) =>
      ({
        ...judged,
        id: `act_${index}`,
        identity: `refund/${index}`,
        sides: one.sides.map(side => ({ ...side, identity: `refund/${index}`, providerRef: `re_old_${index}` })),
      }) as ActionRecord,
  )
  return { ...seen, outbox: [], actions: [judged, ...others] }
}

test('a refund too many is dead-lettered with the reason, and known refunds and other payments are processed', async () => {
  const { clock, codec, contents, publish, dead, stop } = await startMemoryReconciler('con_a')
  const full = fullCase()
  contents.cases.set(full.id, full)
  const refund = (id: string, payment: string, status = 'succeeded'): InboundEvent => {
    const object = { id, object: 'refund', amount: 100, currency: 'eur', charge: null, payment_intent: payment }
    const event_id = `evt_${id}_${status}`
    const body = {
      ...{ id: event_id, type: 'refund.updated', created: T0 / 1000, livemode: true },
      data: { object: { ...object, created: T0 / 1000, status } },
    }
    const received_at = new Date(clock.now()).toISOString()
    const from = { provider: 'processor', project_id: PROJECT, connection_id: 'con_a' } as const
    return { ...from, event_id, event_type: 'refund.updated', received_at, body }
  }
  const tooMany = Array.from({ length: 12 }, (_, index) => refund(`re_new_${index}`, 'pi_1'))
  const events = [...tooMany, refund('re_other', 'pi_2'), refund('re_1', 'pi_1', 'failed')]
  await publish(events.map(event => codec.encode('inbound-event', event)))
  await clock.advance(10 * MINUTE)
  await stop()

  expect(dead().map(({ headers }) => headers[HEADERS.errorCode])).toEqual(Array(12).fill('message_invalid'))
  expect(String(dead()[0]?.headers[HEADERS.errorMessage])).toContain('pi_1 has more refunds')
  expect(contents.inbox.get('con_a/evt_re_other_succeeded')?.document.outcome).toBe('recorded')
  const { actions = [] } = contents.cases.get(full.id) ?? {}
  expect(actions).toHaveLength(MAX_HELD)
  expect(actions[0]).toMatchObject({ providerRef: 're_1', state: 'failed' })
})

const DAY = 86_400_000
const LATER = T0 + 8 * DAY

describe('a full payment', () => {
  const full = fullCase()
  const another = refundSeen({ id: 're_new', amount: 7 })

  test.each<{ name: string; theCase?: Case; input: Input; wanted: string | null }>([
    { name: 'refuses another refund', input: another, wanted: 'too_many_records' },
    {
      name: 'refuses another refund if too many were evicted',
      theCase: { ...emptyCase(), evicted: Array(MAX_EVICTED).fill(evictedRefund('re_gone')) },
      input: another,
      wanted: 'too_many_records',
    },
    { name: 'refuses another total', input: totalSeen({ total: 1, before: 0 }), wanted: 'too_many_records' },
    { name: 'accepts an event about a known refund', input: refundSeen({ status: 'failed' }), wanted: null },
    {
      name: 'accepts an event about an evicted refund',
      theCase: { ...full, evicted: [evictedRefund('re_new')] },
      input: another,
      wanted: null,
    },
    {
      // If these objects were refused, the look would be requested again for ever.
      name: 'accepts the objects that a look requested',
      input: refundSeen({ id: 're_new' }, { readFor: 'second_look' }),
      wanted: null,
    },
    {
      name: 'refuses objects of a sweep',
      input: refundSeen({ id: 're_new' }, { readFor: 'sweep' }),
      wanted: 'too_many_records',
    },
    { name: 'accepts operations', input: operationSeen(), wanted: null },
  ])('$name', ({ theCase = full, input, wanted }) => {
    expect(whyRefused(theCase, input, T0)).toBe(wanted)
  })

  test('accepts the action that a look at a total creates', () => {
    const before = play([{ at: T0, input: totalSeen({ total: 9, before: 0 }) }], { ...full, actions: [] })
    const step = before.refundTotals[0]!
    const workspace = new Workspace([{ ...before, actions: full.actions }], contextAt(step.look!.dueAt))
    const recheck = { kind: 'second_look', lookId: step.id, dueAt: step.look!.dueAt, answer: null } as const
    workspace.apply({ projectId: PROJECT, refs: before.refs.slice(0, 1), input: recheck }, lookFacts())
    expect(workspace.results()[0]?.theCase.actions.at(-1)).toMatchObject({ identity: step.id, amount: 9 })
  })

  test.each([
    { name: 'when old ones can be evicted', more: {} },
    {
      name: 'when the personal data of old ones must be erased before they are evicted',
      more: { details: knownDetails(ofCustomer('Ann'), 1, 'processor') },
    },
  ])('accepts another refund $name', ({ more }) => {
    const old = { ...full.actions[0], ...more, reason: 'made_before_connection', verdict: 'explained' } as ActionRecord
    const workspace = new Workspace([{ ...full, actions: full.actions.with(0, old) }], contextAt(LATER))
    const { refs } = full
    workspace.apply({ projectId: PROJECT, refs, input: another, mayCreate: true }, lookFacts())
    expect(workspace.results()[0]?.theCase.actions.at(-1)?.providerRef).toBe('re_new')
  })

  test('is checked without measuring its size', () => {
    const startedAt = process.cpuUsage()
    for (let count = 0; count < 1_000; count += 1) expect(whyFull(full)).toBe('too_many_records')
    expect(process.cpuUsage(startedAt).user).toBeLessThan(1_000_000)
  })
})

/** The kept data of an evicted refund. */
function evictedRefund(ref: string): EvictedRecord {
  const names = { actionId: `act_${ref}`, identity: `refund/${ref}`, refs: [ref] }
  const shown = {
    kind: 'refund',
    sides: [],
    objectIds: ['pi_1'],
    amount: 7,
    currency: 'eur',
    state: 'succeeded',
  } as const
  return { ...names, ...shown, providerCreatedAt: T0, idempotencyKeys: [], operationId: null }
}
