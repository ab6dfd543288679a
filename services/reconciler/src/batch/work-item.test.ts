import type { InboundEvent, Readback } from '@backstop/contracts'
import { expect, test } from 'vitest'
import { connectionOf } from '../../test/connection-of.ts'
import { effectsOf, itemOfEvent } from './work-item.ts'

test('a hint is normalised once, and its re-read has the targets of the hint', () => {
  let reads = 0
  const body = {
    get content() {
      reads++
      return { subscription: { id: 'sub_1' } }
    },
  }
  const event: InboundEvent = {
    provider: 'subscription',
    project_id: 'prj_1',
    connection_id: 'con_1',
    event_id: 'evt_1',
    event_type: 'subscription_reactivated',
    received_at: '2026-11-21T10:00:00.000Z',
    body,
  }
  const key = { sealed: 'k', fingerprint: 'f', created_at: new Date(0), expires_at: null }
  const connection = connectionOf('con_1', { kind: 'subscription', site: 'acme', read_key: key })
  const { reread } = effectsOf(itemOfEvent(event), {
    connections: new Map([['con_1', connection]]),
    withRule: new Map(),
    actors: { identify: () => undefined },
    now: Date.parse('2026-11-21T10:00:01Z'),
  })
  expect(reread).toMatchObject({ reason: 'hint', targets: [{ type: 'subscription', id: 'sub_1' }] })
  expect(reads).toBe(1)
})

test('an object that was read has the mode that its key shows', () => {
  const readback: Readback = {
    readback_id: 'rbk_1',
    project_id: 'prj_1',
    connection_id: 'con_1',
    provider: 'reseller',
    reason: 'sweep',
    event: null,
    look: null,
    targets: [],
    read_at: '2026-11-21T10:00:01.000Z',
    outcome: 'read',
    failure: null,
    objects: [{ type: 'adjustment', body: { id: 'adj_1', action: 'refund', transaction_id: 'txn_1' }, mode: 'test' }],
  }
  const { caseInputs } = effectsOf(
    { kind: 'readback', readback },
    { connections: new Map(), withRule: new Map(), actors: { identify: () => undefined }, now: 0 },
  )
  const inputs = caseInputs.map(({ input }) => input)
  expect(inputs).toMatchObject([{ sighting: { details: { mode: 'test' } } }])
})
