import { action, alert } from '@backstop/channels/test'
import { describe, expect, test } from 'vitest'
import { assignMembers, beginsStorm, type RecordedMember } from './assign-members.ts'
import { type NewMember, newMemberOf } from './storm-member.ts'

const SETTINGS = { from: 10, windowMs: 300_000, quietMs: 300_000 }
const fingerprint = () => 'f1'
const START = Date.parse('2026-11-21T10:00:00.000Z')
const NOTHING = { members: [], openStorms: new Map<string, string>() }

function member(index: number, atMs = START + index, connectionId = 'con_1', account?: string): NewMember {
  const opened_at = new Date(atMs).toISOString()
  const incident = {
    incident_id: `inc_${connectionId}_${account ?? ''}${index}`,
    connection_id: connectionId,
    opened_at,
  }
  const one = alert({ id: `alr_${index}`, incident })
  if (one.event !== 'incident.opened') throw new Error('The sample is of another event')
  const made = action(account === undefined ? {} : { account })
  return newMemberOf({ ...one, data: { ...one.data, action: made } }, START, fingerprint) as NewMember
}
const members = (many: number, connectionId?: string) =>
  Array.from({ length: many }, (_, index) => member(index + 1, undefined, connectionId))
const shown = ({ decided }: { decided: readonly RecordedMember[] }) =>
  decided.map(({ alone }) => (alone ? 'alone' : 'storm'))

describe('members of one connection', () => {
  test('are alone up to the ninth within the window, and belong to a storm from the tenth on', () => {
    const assigned = assignMembers(members(12), NOTHING, SETTINGS)
    expect(shown(assigned)).toEqual([...Array(9).fill('alone'), 'storm', 'storm', 'storm'])
    expect(new Set(assigned.decided.map(({ storm_id }) => storm_id)).size).toBe(2)
    expect(assigned.unrecorded).toHaveLength(12)
  })

  test('stay alone if the tenth comes after the window, and not if it comes at its end', () => {
    const nine = members(9)
    const atEnd = assignMembers([...nine, member(10, START + 1 + 300_000)], NOTHING, SETTINGS)
    expect(shown(atEnd).at(-1)).toBe('storm')
    expect(shown(assignMembers([...nine, member(10, START + 2 + 300_000)], NOTHING, SETTINGS)).at(-1)).toBe('alone')
  })

  test('join the open storm at once, however old they are', () => {
    const openStorms = new Map([['con_1', 'stm_open']])
    const { decided } = assignMembers([member(1, START - 3_600_000)], { members: [], openStorms }, SETTINGS)
    expect(decided).toMatchObject([{ storm_id: 'stm_open', alone: false }])
  })

  test('that are out of order begin a storm if ten lie within one window', () => {
    const shuffled = [5, 3, 9, 1, 7, 2, 8, 6, 10, 4].map(index => member(index, START + index * 30_000))
    expect(shown(assignMembers(shuffled, NOTHING, SETTINGS)).at(-1)).toBe('storm')
    const spread = [5, 3, 9, 1, 7, 2, 8, 6, 10, 4].map(index => member(index, START + index * 40_000))
    expect(shown(assignMembers(spread, NOTHING, SETTINGS))).not.toContain('storm')
  })
})

test('connections do not count together', () => {
  const both = members(9).flatMap((one, index) => [one, member(index + 1, undefined, 'con_2')])
  expect(shown(assignMembers(both, NOTHING, SETTINGS))).not.toContain('storm')
})

describe('members of connected accounts', () => {
  const ofAccount = (account: string, many: number, first = 1) =>
    Array.from({ length: many }, (_, index) => member(first + index, START + first + index, 'con_1', account))
  const scopes = ({ decided }: { decided: readonly RecordedMember[] }) =>
    decided.map(({ connection_id, alone }) => (alone ? 'alone' : connection_id))

  test('form a storm of their account, and the actions of other accounts stay alone', () => {
    const mixed = ofAccount('acct_a', 12).flatMap((one, index) => [
      one,
      ...(index < 5 ? ofAccount('acct_b', 1, index + 1) : []),
    ])
    const found = scopes(assignMembers(mixed, NOTHING, SETTINGS))
    expect(found.filter(scope => scope !== 'alone')).toEqual(Array(3).fill('con_1/acct_a'))
  })

  test('do not count together with the actions of the platform itself', () => {
    expect(shown(assignMembers([...members(9), ...ofAccount('acct_a', 9)], NOTHING, SETTINGS))).not.toContain('storm')
  })

  test('form one storm of many accounts if ten accounts have an action each', () => {
    const each = Array.from({ length: 40 }, (_, index) => ofAccount(`acct_${index}`, 1)).flat()
    const found = scopes(assignMembers(each, NOTHING, SETTINGS))
    expect(found).toEqual([...Array(9).fill('alone'), ...Array(31).fill('con_1/')])
  })

  test('form two storms of accounts, and then one of many, if a thief takes one account after the other', () => {
    const all = Array.from({ length: 30 }, (_, index) => ofAccount(`acct_${index}`, 20)).flat()
    const { decided } = assignMembers(all, NOTHING, SETTINGS)
    expect(new Set(decided.filter(({ alone }) => !alone).map(({ connection_id }) => connection_id))).toEqual(
      new Set(['con_1/acct_0', 'con_1/acct_1', 'con_1/']),
    )
    expect(decided.filter(({ alone }) => alone)).toHaveLength(18)
  })

  test('form one storm of many accounts with the tenth action of three accounts or more', () => {
    const turns = Array.from({ length: 12 }, (_, turn) => ofAccount(`acct_${turn % 3}`, 1, 1 + turn)).flat()
    expect(scopes(assignMembers(turns, NOTHING, SETTINGS))).toEqual([
      ...Array(9).fill('alone'),
      ...Array(3).fill('con_1/'),
    ])
  })

  test('join the open storm of many accounts, unless their account has its own', () => {
    const openStorms = new Map([
      ['con_1/', 'stm_many'],
      ['con_1/acct_a', 'stm_a'],
    ])
    const incoming = [...ofAccount('acct_a', 1), ...ofAccount('acct_b', 1)]
    const { decided } = assignMembers(incoming, { members: [], openStorms }, SETTINGS)
    expect(decided).toMatchObject([
      { storm_id: 'stm_a', connection_id: 'con_1/acct_a' },
      { storm_id: 'stm_many', connection_id: 'con_1/' },
    ])
  })

  test.each([1, 7, 40])('are decided the same in batches of %i, and again', size => {
    const all = Array.from({ length: 30 }, (_, index) => ofAccount(`acct_${index % 15}`, 6, index)).flat()
    const whole = assignMembers(all, NOTHING, SETTINGS)
    const recorded: RecordedMember[] = []
    for (let index = 0; index < all.length; index += size) {
      const openStorms = new Map(
        recorded.flatMap(one => (one.storm_id === null ? [] : [[one.connection_id, one.storm_id] as const])),
      )
      const batch = all.slice(index, index + size).filter(({ _id }) => !recorded.some(one => one._id === _id))
      recorded.push(...assignMembers(batch, { members: recorded, openStorms }, SETTINGS).unrecorded)
    }
    expect(recorded).toEqual(assignMembers(withoutRepeats(all), NOTHING, SETTINGS).unrecorded)
    expect(assignMembers(all, { members: recorded, openStorms: new Map() }, SETTINGS).unrecorded).toEqual([])
    expect(new Set(scopes(whole))).toContain('con_1/')
  })
})

function withoutRepeats(all: readonly NewMember[]): NewMember[] {
  return [...new Map(all.map(one => [one._id, one])).values()]
}

describe('a repeat', () => {
  const whole = assignMembers(members(15), NOTHING, SETTINGS)

  test.each([
    { name: 'nothing was recorded', recorded: [] },
    { name: 'everything was recorded', recorded: whole.unrecorded },
    { name: 'the first members were recorded', recorded: whole.unrecorded.slice(0, 7) },
    { name: 'the tenth was not recorded', recorded: whole.unrecorded.filter((_, index) => index !== 9) },
    { name: 'some of the first nine were not recorded', recorded: whole.unrecorded.slice(5) },
    { name: 'only members of the storm were recorded', recorded: whole.unrecorded.slice(11) },
  ])('decides the same where $name', ({ recorded }) => {
    const again = assignMembers(members(15), { members: recorded, openStorms: new Map() }, SETTINGS)
    expect(again.decided.map(({ _id, storm_id, alone }) => ({ _id, storm_id, alone }))).toEqual(
      whole.decided.map(({ _id, storm_id, alone }) => ({ _id, storm_id, alone })),
    )
    expect(again.unrecorded).toHaveLength(15 - recorded.length)
  })

  test.each([1, 4, 9, 10, 14])('decides the same in batches of %i', size => {
    const recorded: RecordedMember[] = []
    const all = members(15)
    for (let index = 0; index < all.length; index += size) {
      const openStorms = new Map(
        recorded.flatMap(one => (one.storm_id === null ? [] : [[one.connection_id, one.storm_id] as const])),
      )
      recorded.push(
        ...assignMembers(all.slice(index, index + size), { members: recorded, openStorms }, SETTINGS).unrecorded,
      )
    }
    expect(recorded).toEqual(whole.unrecorded)
  })

  test('keeps a message alone that people got before its storm began', () => {
    const adopted = whole.unrecorded.map(one => ({ ...one, storm_id: whole.decided[9]?.storm_id ?? '' }))
    const again = assignMembers(members(15), { members: adopted, openStorms: new Map() }, SETTINGS)
    expect(shown(again)).toEqual(shown(whole))
  })
})

test('beginsStorm counts only times within one window that includes the new one', () => {
  const settings = { from: 3, windowMs: 10, quietMs: 10 }
  expect(beginsStorm(20, [10, 15], settings)).toBe(true)
  expect(beginsStorm(21, [10, 15], settings)).toBe(false)
  expect(beginsStorm(15, [6, 24], settings)).toBe(false)
  expect(beginsStorm(15, [10, 20], settings)).toBe(true)
  expect(beginsStorm(30, [1, 2, 3], settings)).toBe(false)
})

test('only unexplained actions are members, and no name or e-mail address is recorded', () => {
  expect(newMemberOf(alert({ incident: { code: 'REFUND_REJECTED' } }), START, fingerprint)).toBeUndefined()
  expect(newMemberOf(alert({ incident: { connection_id: null } }), START, fingerprint)).toBeUndefined()
  const one = alert()
  if (one.event !== 'incident.opened') throw new Error('The sample is of another event')
  const user = 'canary@customer.example'
  const origin = { channel: 'dashboard', key_name: null, user, request_id: null, idempotency_key: null } as const
  const customer = { id: 'cus_1', name: 'Canary', email: user }
  const recorded = newMemberOf(
    { ...one, data: { ...one.data, action: action({ origin, customer }) } },
    START,
    fingerprint,
  )
  expect(recorded?.facts).toMatchObject({ channel: 'dashboard', customer_id: 'cus_1', user_fingerprint: 'f1' })
  expect(JSON.stringify(recorded)).not.toMatch(/canary/i)
})
