import { expect, test } from 'vitest'
import { deterministicOrderedId, ID_PREFIXES, type IdKind, newId, newOrderedId } from './ids.ts'

/** Id prefixes of the card processor and the reseller. */
const PROVIDER_PREFIXES = ['adj', 'ch', 'cus', 'evt', 'in', 'pi', 'py', 're', 'sub', 'sub_sched', 'txn']

test('no prefix of an id is the prefix of a provider', () => {
  for (const prefix of Object.values(ID_PREFIXES)) expect(PROVIDER_PREFIXES).not.toContain(prefix)
})

test('every kind of id has a prefix of its own, and an id names its kind', () => {
  const kinds = Object.keys(ID_PREFIXES) as IdKind[]
  expect(new Set(Object.values(ID_PREFIXES)).size).toBe(kinds.length)
  for (const kind of kinds) expect(newId(kind)).toMatch(new RegExp(`^${ID_PREFIXES[kind]}_[0-9a-hjkmnp-tv-z]{26}$`))
})

test('ordered ids grow with their time, and those of one time differ', () => {
  const now = Date.UTC(2026, 10, 26)
  // Around a carry from each byte of the time to the next.
  const times = [now, now + 1, ...[1, 2, 3, 4, 5].flatMap(byte => [256 ** byte - 1, 256 ** byte])].sort((a, b) => a - b)
  const ids = times.map(atMs => newOrderedId('case', atMs))
  expect(ids.toSorted()).toEqual(ids)
  for (const id of ids) expect(id).toMatch(/^case_[0-9a-hjkmnp-tv-z]{26}$/)
  expect(new Set(Array.from({ length: 1_000 }, () => newOrderedId('case', now))).size).toBe(1_000)
})

test('derived ordered ids grow with their time, and are the same for the same object', () => {
  const ids = [0, 1, Date.UTC(2026, 10, 26), Date.UTC(2026, 11, 1)].map(at =>
    deterministicOrderedId('action', at, 're_1'),
  )
  expect(ids.toSorted()).toEqual(ids)
  expect(deterministicOrderedId('action', 1, 're_1')).toBe(ids[1])
  expect(deterministicOrderedId('action', 1, 're_2')).not.toBe(ids[1])
})

test.each([-1, -8.64e15, 2 ** 48, 8.64e15, 1.5, Number.MAX_VALUE])('a derived ordered id may have the time %d', at => {
  expect(deterministicOrderedId('action', at, 're_1')).toMatch(/^act_[0-9a-hjkmnp-tv-z]{26}$/)
})
