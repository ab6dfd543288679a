import { describe, expect, test } from 'vitest'
import { RESELLER_EVENTS, RESELLER_OBJECTS } from '../../test/samples/reseller.ts'
import { normaliseEvent, normaliseObject } from './normalise.ts'

const origin = { projectId: 'prj_1', connectionId: 'con_1', eventId: 'evt_1' }
const { adjustment } = RESELLER_OBJECTS

function observed(eventType: string, data: unknown, more: Record<string, unknown> = {}) {
  const meaning = normaliseEvent({ ...origin, eventType }, { occurred_at: '2025-11-20T10:15:31Z', data, ...more })
  return meaning.kind === 'observed' ? meaning.sightings[0] : meaning
}

describe('an event of the reseller', () => {
  test('a refund under review is a sighting with the identity of the adjustment', () => {
    expect(observed('adjustment.created', adjustment)).toEqual({
      kind: 'action',
      action: 'refund',
      provider: 'reseller',
      identity: 'prj_1/reseller/adjustment/adj_01k9a0m2zz',
      refs: ['prj_1/reseller/txn_01k8', 'prj_1/reseller/sub_01k7', 'prj_1/reseller/adj_01k9a0m2zz'],
      objectIds: ['txn_01k8', 'sub_01k7'],
      subject: 'txn_01k8',
      providerRef: 'adj_01k9a0m2zz',
      gatewayRefs: [],
      amount: 2499,
      currency: 'usd',
      state: 'pending',
      stateVersion: Date.parse('2025-11-20T10:15:30.100Z'),
      createdAt: Date.parse('2025-11-20T10:15:30.100Z'),
      idempotencyKey: null,
      details: expect.any(Object),
    })
  })

  test('the end of its review is the same action in a later state', () => {
    expect(observed('adjustment.updated', RESELLER_EVENTS['adjustment.updated'].data)).toMatchObject({
      identity: 'prj_1/reseller/adjustment/adj_01k9a0m2zz',
      state: 'succeeded',
      stateVersion: Date.parse('2025-11-20T10:25:30.100Z'),
    })
  })

  const amounts: { name: string; totals: unknown; amount: number | null }[] = [
    { name: 'text of minor units', totals: { total: '2499' }, amount: 2499 },
    { name: 'nothing at all', totals: { total: '0' }, amount: 0 },
    { name: 'a number', totals: { total: 2499 }, amount: 2499 },
    { name: 'no total', totals: {}, amount: null },
    { name: 'no totals', totals: null, amount: null },
  ]
  test.each(amounts)('an amount given as $name is $amount', ({ totals, amount }) => {
    expect(observed('adjustment.created', { ...adjustment, totals })).toMatchObject({ amount })
  })

  test.each(['24.99', '-1', '', 'many', '9'.repeat(20)])('the amount %j is malformed', total => {
    expect(observed('adjustment.created', { ...adjustment, totals: { total } })).toEqual({
      kind: 'malformed',
      reason: expect.stringContaining('adjustment.totals.total'),
    })
  })

  test('times may have microseconds, and the time of the event is used if the object has none', () => {
    const bare = { ...adjustment, created_at: undefined, updated_at: undefined }
    expect(observed('adjustment.created', bare, { occurred_at: '2025-11-20T10:15:30.123456Z' })).toMatchObject({
      createdAt: Date.parse('2025-11-20T10:15:30.123Z'),
      stateVersion: null,
    })
    expect(observed('adjustment.created', bare, { occurred_at: 'today' })).toMatchObject({ kind: 'malformed' })
  })

  test('a subscription is a state at the time of its last change', () => {
    const { data } = RESELLER_EVENTS['subscription.updated']
    expect(observed('subscription.updated', data)).toEqual({
      kind: 'subscription',
      provider: 'reseller',
      identity: 'prj_1/reseller/subscription/sub_01k7',
      refs: ['prj_1/reseller/sub_01k7'],
      objectIds: ['sub_01k7'],
      subject: 'sub_01k7',
      asOf: Date.parse('2025-11-20T11:00:00.400Z'),
      cancellation: {
        phase: 'scheduled',
        requestedAt: null,
        effectiveAt: Date.parse('2025-12-12T00:00:00Z'),
        cause: 'requested',
        detail: null,
      },
      pause: { phase: 'none', effectiveAt: null },
      before: null,
      isPastDue: false,
      idempotencyKey: null,
      details: expect.any(Object),
    })
  })

  test('an object has the same meaning from the API and in an event', () => {
    const readFrom = { projectId: 'prj_1', connectionId: 'con_1', site: null, readAt: 1 }
    for (const [type, object] of Object.entries(RESELLER_OBJECTS)) {
      const pushed = observed(type === 'adjustment' ? 'adjustment.updated' : 'subscription.updated', object)
      expect(normaliseObject(readFrom, type, object)).toEqual({ kind: 'observed', sightings: [pushed] })
    }
  })
})
