import { expect, test } from 'vitest'
import { type BurstAction, describeBurst } from './burst-incident.ts'

const WHY = { ageMs: 0, late: 3, usual: 0, threshold: 3 }
const actionOf = (account: string | undefined): BurstAction => ({
  provider: 'processor',
  kind: 'refund',
  amount: 100,
  currency: 'eur',
  state: 'succeeded',
  subject: 'pi_1',
  first_seen_at: '2026-11-21T10:00:00.000Z',
  second_look_at: '2026-11-21T10:01:00.000Z',
  ...(account === undefined ? {} : { account }),
})

test.each([
  { name: "the connection's own account", accounts: [undefined, undefined], expected: [undefined, undefined] },
  { name: 'one connected account', accounts: ['acct_1', 'acct_1'], expected: ['acct_1', undefined] },
  { name: 'two connected accounts', accounts: ['acct_1', 'acct_2'], expected: [undefined, 2] },
  { name: 'its own and a connected account', accounts: ['acct_1', undefined], expected: [undefined, 1] },
])('a burst of $name names the account, or how many', ({ accounts: [first, second], expected }) => {
  const { account, accounts } = describeBurst([actionOf(first), actionOf(second)], WHY)
  expect([account, accounts]).toEqual(expected)
})

test('a burst names the actor that at least half of the actions have, and stores no name', () => {
  const by = (actor_id: string | undefined): BurstAction => ({
    ...actionOf(undefined),
    ...(actor_id === undefined ? {} : { actor_id }),
    origin: { channel: 'dashboard', key_name: null, user: 'ana@example.com', request_id: null, idempotency_key: null },
  })
  const burst = describeBurst([by('acr_1'), by('acr_1'), by('acr_2'), by(undefined)], WHY)
  expect(burst.common?.actor).toEqual({ value: 'acr_1', kind: 'dashboard_user', count: 2 })
  expect(JSON.stringify(burst)).not.toContain('ana@example.com')
  expect(describeBurst([by('acr_1'), by('acr_2'), by('acr_3')], WHY).common?.actor).toBeNull()
})
