import type { Operation } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { ofCustomer } from '../../test/details.ts'
import { expectedChange } from '../../test/expected-changes.ts'
import {
  alertsOf,
  CONNECTION,
  emptyCase,
  lookAll,
  MINUTE,
  operation,
  operationSeen,
  play,
  policy,
  type RefundFacts,
  refundSeen,
  SECOND,
  T0,
  type TotalFacts,
  totalSeen,
} from '../../test/fixtures.ts'
import type { ActionRecord } from '../case/action-record.ts'
import type { Case, EvictedRecord } from '../case/case.ts'
import { knownDetails } from '../case/details.ts'
import { pendingLooks } from '../case/looks.ts'
import { changedRecords } from '../show/projection.ts'
import type { Input } from './decide.ts'
import { evictOld, MAX_RECORDS } from './evict.ts'

const DAY = 86_400_000
const LATER = T0 + 8 * DAY
const SURPLUS = 5

const madeAt = (index: number) => T0 + index * SECOND
const refund = (index: number, facts: RefundFacts = {}) =>
  refundSeen({ id: `re_${index}`, amount: 100, createdAt: madeAt(index), ...facts })
const made = (index: number): Operation =>
  operation({
    operation_id: `op_${index}`,
    amount: 100,
    executing_at: new Date(madeAt(index)).toISOString(),
    ended_at: new Date(madeAt(index) + SECOND).toISOString(),
  })

/** A case with this many refunds, one per second, each explained by its own operation. */
function explained(count: number): Case {
  const cases = Array.from({ length: count }, (_, index) =>
    play([
      { at: madeAt(index), input: operationSeen(made(index)) },
      { at: madeAt(index), input: refund(index) },
    ]),
  )
  return {
    ...emptyCase(),
    refs: [...new Set(cases.flatMap(({ refs }) => refs))],
    actions: cases.flatMap(({ actions }) => actions),
    operations: cases.flatMap(({ operations }) => operations),
    followedOperations: cases.flatMap(({ followedOperations }) => followedOperations),
  }
}

const full = explained(MAX_RECORDS + SURPLUS - 1)
const newest = refund(9_999, { amount: 7, createdAt: LATER })
/** The case after a batch with this input. */
const batch = (input: Input, before: Case, now = LATER) => evictOld(play([{ at: now, input }], before), before, now)
const grown = batch(newest, full)
const namesOf = ({ actions }: Case) => actions.map(({ providerRef }) => providerRef)

/** The full case with changes to its oldest record. */
function withOldest(change: Partial<ActionRecord>): Case {
  const [oldest, ...others] = full.actions
  return { ...full, actions: [{ ...oldest, ...change } as ActionRecord, ...others] }
}

function sidesOf(state: ActionRecord['state']): ActionRecord['sides'] {
  return full.actions[0]!.sides.map(side => ({ ...side, state }))
}

/** The full case, in which no operation explains the oldest record. */
function withoutOperation(verdict: ActionRecord['verdict'], reason: ActionRecord['reason']): Case {
  const look = { dueAt: T0 + MINUTE, askedAt: null, doneAt: T0 + MINUTE }
  const judged = { verdict, reason, operationId: null, look, quietFor: [CONNECTION] }
  const theCase = withOldest(judged as Partial<ActionRecord>)
  return { ...theCase, operations: full.operations.slice(1) }
}

const expected = expectedChange({ amount: 100, expiresAt: T0 + SECOND })

describe('a case with more records than it keeps', () => {
  test('evicts the oldest explained records, each with its operation', () => {
    expect(full.actions.every(({ verdict }) => verdict === 'explained')).toBe(true)
    expect(grown.actions).toHaveLength(MAX_RECORDS)
    expect(grown.operations).toHaveLength(MAX_RECORDS - 1)
    expect(grown.followedOperations.map(({ operationId }) => operationId)).not.toContain('op_0')
    expect(namesOf(grown)[0]).toBe(`re_${SURPLUS}`)
    expect(grown.evicted[0]).toMatchObject({ refs: ['re_0'], operationId: 'op_0', amount: 100 })
    expect(grown.evicted).toHaveLength(SURPLUS)
  })

  test('changes no verdict of the kept records', () => {
    const kept = full.actions.slice(SURPLUS)
    expect(grown.actions.slice(0, -1)).toEqual(kept)
  })

  const open = { id: 'inc', code: 'REFUND_REJECTED', state: 'open' } as ActionRecord['incidents'][number]
  test.each<{ name: string; theCase: Case }>([
    { name: 'an unexplained record', theCase: withoutOperation('unexplained', 'nothing_explains_it') },
    {
      name: 'a record that did not alert because of a setting',
      theCase: withoutOperation('not_alerted', 'out_of_band_ignore'),
    },
    { name: 'a record with an open incident', theCase: withOldest({ incidents: [open] }) },
    {
      name: 'a record that was first seen less than a week ago',
      theCase: withOldest({ firstSeenAt: LATER - 6 * DAY }),
    },
    {
      name: 'a record that an expected change explains, because expected changes expire',
      theCase: { ...withoutOperation('explained', 'expected_change_matches'), expectedChanges: [expected] },
    },
    {
      name: 'a record whose operation has not ended',
      theCase: {
        ...full,
        operations: full.operations.with(0, { ...made(0), state: 'executing', ended_at: null }),
      },
    },
  ])('keeps $name', ({ theCase }) => {
    const next = batch(newest, theCase)
    expect(namesOf(next)).toContain('re_0')
  })

  test('keeps refunds that share an operation, because it would be evicted with the first of them', () => {
    const [oldest, second, ...others] = full.actions as [ActionRecord, ActionRecord, ...ActionRecord[]]
    const sharing = { ...second, operationId: oldest.operationId } as ActionRecord
    const shared = { ...full, actions: [oldest, sharing, ...others] }
    const kept = evictOld(
      { ...shared, actions: [...shared.actions, ...play([{ at: LATER, input: newest }]).actions] },
      shared,
      LATER,
    )
    expect(namesOf(kept).slice(0, 3)).toEqual(['re_0', 're_1', `re_${SURPLUS + 2}`])
  })

  test('keeps records that the batch changed, because they must still be listed', () => {
    const failed = batch(refund(0, { status: 'failed' }), full)
    expect(failed.actions[0]).toMatchObject({ providerRef: 're_0', state: 'failed' })
    expect(namesOf(failed)).not.toContain('re_1')
    expect(namesOf(batch(newest, failed))).not.toContain('re_0')
  })

  test('keeps all records for a week', () => {
    expect(batch(newest, full, T0 + 6 * DAY).actions).toHaveLength(MAX_RECORDS + SURPLUS)
  })
})

describe('a record with personal data in a case with more records than it keeps', () => {
  const person = knownDetails(ofCustomer('Ann Canary', 'ann@canary.example'), 1, 'processor')
  const withPerson = withOldest({
    details: person!,
    sides: full.actions[0]!.sides.map(side => ({ ...side, details: person! })),
  })
  const merged = full.actions[0]!
  const withMerged = { ...full, merged: [{ record: { ...merged, id: 'act_merged', details: person! }, into: 'act_1' }] }

  test.each([
    { name: 'an action', before: withPerson },
    { name: 'a merged record', before: withMerged },
  ])('is listed without the data before it is evicted: $name', ({ before }) => {
    const first = batch(newest, { ...before, version: 7 })
    const kept = [...first.actions, ...first.merged.map(({ record }) => record)]
    expect(JSON.stringify(kept)).not.toMatch(/canary/i)
    expect(kept).toHaveLength(MAX_RECORDS + 1)
    const { actions, merged } = changedRecords(first)
    expect([...actions, ...merged.map(({ record }) => record)]).toHaveLength(1)
    const second = batch(refund(9_998, { amount: 8, createdAt: LATER }), { ...first, version: 8 })
    expect([...second.actions, ...second.merged]).toHaveLength(MAX_RECORDS)
  })
})

describe('a late event about an evicted record', () => {
  const late = play([{ at: LATER, input: refund(0, { eventType: 'refund.updated', status: 'failed' }) }], grown)
  const again = late.actions.at(-1)

  test('creates the record again under its id, and the record waits for its second look', () => {
    expect(again).toMatchObject({ id: full.actions[0]?.id, verdict: 'pending', state: 'failed' })
    expect(late.evicted.map(({ refs }) => refs)).not.toContainEqual(['re_0'])
  })

  test('creates a record that the operation from the ledger explains, with a drift alert for their difference only', () => {
    const ledger = full.operations.map(known => ({ at: LATER + MINUTE, input: operationSeen(known) }))
    const found = play(ledger, late)
    const looked = lookAll(found, [policy()])
    expect(found.actions.find(({ id }) => id === again?.id)).toMatchObject({
      verdict: 'explained',
      operationId: 'op_0',
    })
    expect(found.actions).toHaveLength(late.actions.length)
    expect(found.operations).toHaveLength(late.operations.length + 1)
    const before = new Set(full.outbox)
    const alerts = looked.outbox.filter(entry => entry.topic === 'alerts' && !before.has(entry))
    expect(alerts.map(({ message }) => (message as { event: string }).event).sort()).toEqual([
      'drift.detected',
      // For the newest refund, which has no operation.
      'incident.opened',
    ])
  })

  test('without a key creates a record that the operation of the kept key explains, without an alert', () => {
    const key = 'key_0'
    const byKey = operation({ ...made(0), amount: null, idempotency_key: key })
    const known = withOldest({ reason: 'idempotency_key_matches', idempotencyKeys: [key] })
    const theCase = { ...known, operations: full.operations.with(0, byKey) }
    const before = batch(newest, theCase)
    const failed = refund(0, { eventType: 'refund.failed', status: 'failed' })
    const found = play(
      [
        { at: LATER, input: failed },
        { at: LATER + MINUTE, input: operationSeen(byKey) },
      ],
      before,
    )
    expect(lookAll(found).actions.find(({ id }) => id === again?.id)).toMatchObject({
      verdict: 'explained',
      reason: 'idempotency_key_matches',
    })
  })

  test('of another provider is added to the kept data', () => {
    const [oldest] = full.actions
    // An evicted record keeps no details.
    const { details: _details, ...side } = oldest!.sides[0]!
    const biller = {
      ...side,
      provider: 'subscription',
      identity: 'txn',
      providerRef: 'txn_0',
      gatewayRefs: ['re_0'],
    } as const
    const before = batch(newest, withOldest({ sides: [...oldest!.sides, biller] }))
    const seen = play([{ at: LATER, input: refund(0, { status: 'failed' }) }], before)
    expect(seen.actions.at(-1)).toMatchObject({ identity: oldest?.identity, sides: [{ state: 'failed' }, biller] })
  })

  test('with an older state does not change the kept state', () => {
    // The oldest refund differs from its operation. The next batch evicts it.
    const differing = batch(newest, withOldest({ state: 'failed', sides: sidesOf('failed') }))
    const failed = batch(refund(9_998, { amount: 7, createdAt: LATER }), differing)
    expect(namesOf(failed)).not.toContain('re_0')
    expect(play([{ at: LATER, input: refund(0) }], failed).actions.at(-1)?.state).toBe('failed')
  })

  test('about the total of its charge needs no second look', () => {
    const total = totalSeen({ total: 100, before: 0, createdAt: madeAt(0) })
    const seen = play([{ at: LATER, input: total }], grown)
    expect(pendingLooks(seen).filter(({ kind }) => kind === 'refund_total')).toEqual([])
    expect(lookAll(seen).actions).toHaveLength(grown.actions.length)
  })
})

describe('a late total of a charge', () => {
  /** The amounts of the provisional refunds after the second look at a total. */
  const provisional = (before: Case, facts: TotalFacts) =>
    lookAll(play([{ at: LATER, input: totalSeen(facts) }], before))
      .actions.filter(action => action.providerRef === null)
      .map(({ amount }) => amount)
  const [first, ...others] = grown.evicted
  const ofCharge = (id: string) => (one: EvictedRecord) => {
    return { ...one, objectIds: [id], sides: one.sides.map(side => ({ ...side, objectIds: [id] })) }
  }
  const ofOtherCharge: Case = {
    ...grown,
    evicted: [first!, ...others.map(ofCharge('ch_2'))],
    actions: [],
    operations: [],
  }

  test.each<{ name: string; before: Case; facts: TotalFacts; wanted: number[] }>([
    {
      name: 'proves nothing if all its refunds were evicted',
      before: { ...ofOtherCharge, evicted: grown.evicted },
      facts: { total: 100 * SURPLUS, createdAt: madeAt(SURPLUS) },
      wanted: [],
    },
    {
      name: 'proves a refund if the evicted records are of another charge',
      before: ofOtherCharge,
      facts: { total: 100 * SURPLUS, createdAt: madeAt(SURPLUS) },
      wanted: [100 * SURPLUS - 100],
    },
    {
      name: 'proves a refund if the evicted records were made after it',
      before: ofOtherCharge,
      facts: { total: 100, createdAt: T0 - MINUTE },
      wanted: [100],
    },
    {
      name: 'proves a refund of an amount that no evicted record has, at any time',
      before: grown,
      facts: { total: 130, before: 100, createdAt: madeAt(0) },
      wanted: [30],
    },
    {
      name: 'also proves an earlier refund if no record of that time was evicted',
      before: ofOtherCharge,
      facts: { total: 200, before: 100, createdAt: T0 - DAY },
      wanted: [100, 100],
    },
  ])('$name', ({ before, facts, wanted }) => {
    expect(provisional(before, facts)).toEqual(wanted)
  })
})

describe('the operation of an evicted record', () => {
  test('explains no other refund, and causes no missing check', () => {
    // The most similar refund: the same amount and the same time.
    const other = play([{ at: LATER, input: refund(0, { id: 're_other' }) }], grown)
    const seen = play([{ at: LATER, input: operationSeen({ ...made(0), version: 2 }) }], other)
    expect(seen).toBe(other)
    expect(lookAll(seen).actions.find(({ providerRef }) => providerRef === 're_other')?.verdict).toBe('unexplained')
    expect(alertsOf(lookAll(seen))).not.toContain('drift.detected')
  })
})
