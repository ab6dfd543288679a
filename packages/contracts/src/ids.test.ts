import { expect, test } from 'vitest'
import { ID_PREFIXES, type IdKind, newId } from './ids.ts'

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
