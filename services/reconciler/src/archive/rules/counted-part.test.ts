import type { ActionDocument } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { countedPartOf, isArchivable } from './counted-part.ts'

const at = new Date('2024-01-05T10:00:00Z')
const action: ActionDocument = {
  _id: 'act_1',
  project_id: 'prj_1',
  connection_id: 'con_1',
  connection_ids: ['con_1', 'con_2'],
  provider: 'processor',
  kind: 'refund',
  subject: 'pi_1',
  provider_ref: 're_1',
  amount: 2499,
  currency: 'eur',
  state: 'succeeded',
  provider_created_at: '2024-01-05T09:59:59.000Z',
  first_seen_at: at.toISOString(),
  first_seen: at,
  second_look_at: null,
  verdict: 'explained',
  reason: 'provider_ref_matches',
  operation_id: 'op_1',
  incident_id: null,
  event_ids: ['evt_1'],
  actor_id: 'acr_1',
  customer: { id: 'cus_1', name: null, email: null },
  search: ['pi_1', 're_1'],
  timeline: [],
  version: 2,
}
const archivedAt = new Date('2026-01-01T00:00:00Z')

describe('what stays of an archived action', () => {
  test('is what daily totals count, and nothing else', () => {
    expect(countedPartOf(action, archivedAt)).toEqual({
      _id: 'act_1',
      project_id: 'prj_1',
      connection_id: 'con_1',
      provider_created_at: action.provider_created_at,
      kind: 'refund',
      verdict: 'explained',
      reason: 'provider_ref_matches',
      state: 'succeeded',
      currency: 'eur',
      amount: 2499,
      mode: null,
      actor_id: 'acr_1',
      version: 2,
      archived_at: archivedAt,
    })
  })

  test('says that no notification reported it', () => {
    expect(countedPartOf({ ...action, event_ids: [] }, archivedAt).event_ids).toEqual([])
  })

  test('has the time to the verdict of a document that did not store it', () => {
    const timeline = [{ at: new Date(at.getTime() + 1_234).toISOString(), what: 'explained' as const }]
    const old = { ...action, timeline } as ActionDocument
    expect(countedPartOf(old, archivedAt).verdict_bucket).toBe(1_200)
    expect(countedPartOf({ ...old, verdict_bucket: 7 }, archivedAt).verdict_bucket).toBe(7)
  })
})

describe('an action may be archived', () => {
  const before = at.getTime() + 1
  test.each<{ name: string; change: Partial<ActionDocument>; may: boolean }>([
    { name: 'if it is explained and old', change: {}, may: true },
    { name: 'not before its time', change: { first_seen: new Date(before) }, may: false },
    { name: 'not while nothing explains it', change: { verdict: 'unexplained' }, may: false },
    { name: 'not if it needs no explanation', change: { verdict: 'not_alerted' }, may: false },
    { name: 'not if it ever had an incident', change: { incident_id: 'inc_1' }, may: false },
  ])('$name', ({ change, may }) => {
    expect(isArchivable({ ...action, ...change }, before)).toBe(may)
  })
})
