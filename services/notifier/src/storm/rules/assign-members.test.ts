import { action, alert } from '@backstop/channels/test'
import { describe, expect, test } from 'vitest'
import { assignMembers, beginsStorm, type RecordedMember } from './assign-members.ts'
import { type NewMember, newMemberOf } from './storm-member.ts'

const SETTINGS = { from: 10, windowMs: 300_000, quietMs: 300_000 }
const fingerprint = () => 'f1'
const START = Date.parse('2026-11-21T10:00:00.000Z')
const NOTHING = { members: [], openStorms: new Map<string, string>() }

function member(index: number, atMs = START + index, connectionId = 'con_1'): NewMember {
  const opened_at = new Date(atMs).toISOString()
  const incident = { incident_id: `inc_${connectionId}_${index}`, connection_id: connectionId, opened_at }
  return newMemberOf(alert({ id: `alr_${index}`, incident }), START, fingerprint) as NewMember
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
