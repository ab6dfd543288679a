import { type Action, OriginChannel, type ProviderKind } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { providerStepsOf } from './next-steps.ts'

const made = (facts: Partial<Action>) => ({
  provider: 'processor' as ProviderKind,
  kind: 'refund' as const,
  state: 'succeeded' as const,
  mode: 'live' as const,
  provider_created_at: '2026-11-21T09:58:41.000Z',
  ...facts,
})
const origin = (facts: Partial<NonNullable<Action['origin']>>) => ({
  channel: null,
  key_name: null,
  user: null,
  request_id: null,
  idempotency_key: null,
  ...facts,
})
const PROVIDERS = ['processor', 'reseller', 'subscription'] as const
const ALL = PROVIDERS.flatMap(provider => [...OriginChannel.options, null].map(channel => ({ provider, channel })))

test.each(ALL)('of $provider with the origin $channel: money first, then the origin', row => {
  const { sentence, steps } = providerStepsOf(
    made({ provider: row.provider, origin: origin({ channel: row.channel }) }),
  )
  expect(sentence).toMatch(/^[A-Z].*\.$/)
  expect(steps.length).toBeGreaterThanOrEqual(2)
  expect(steps[0]).toMatch(/refund/)
  for (const step of steps) expect(step).toMatch(/^[A-Z].*\.$/)
})

describe('the steps', () => {
  test.each([
    { provider: 'processor', place: 'open Developers > API keys, replace the key "nightly-job" (“Roll” or “Rotate”)' },
    { provider: 'reseller', place: 'Developer tools > Authentication > API keys' },
    { provider: 'subscription', place: 'open API Keys and Webhooks > API Keys' },
  ] as const)('name the key to replace, and where $provider has it', ({ provider, place }) => {
    const { sentence, steps } = providerStepsOf(
      made({ provider, origin: origin({ channel: 'api', key_name: 'nightly-job' }) }),
    )
    expect(sentence).toBe('If none of your programs made this, replace the key "nightly-job".')
    expect(steps.join(' ')).toContain(place)
    expect(steps.join(' ')).toContain('the key "nightly-job"')
  })

  test('name the request to look for', () => {
    const { steps } = providerStepsOf(made({ origin: origin({ channel: 'api', request_id: 'req_8fKx2mQpLw' }) }))
    expect(steps[1]).toContain('Developers > Workbench > Logs (in older accounts Developers > Logs)')
    expect(steps[1]).toContain('look for the request req_8fKx2mQpLw')
  })

  test('name the person to ask', () => {
    const { sentence, steps } = providerStepsOf(
      made({ origin: origin({ channel: 'dashboard', user: 'ops@example.com' }) }),
    )
    expect(sentence).toContain('Ask ops@example.com now')
    expect(steps[1]).toMatch(/^If ops@example\.com did not do it, .* remove it under Settings > Team/)
  })

  test.each([
    { provider: 'processor', state: 'pending', step: /cancel the refund there now, if this is offered/ },
    { provider: 'reseller', state: 'pending', step: /ask them to reject it/ },
    { provider: 'reseller', state: 'succeeded', step: /can no longer be cancelled/ },
    { provider: 'subscription', state: 'pending', step: /Ask your payment gateway now/ },
  ] as const)('say how a $state refund of $provider is stopped', ({ step, ...facts }) => {
    expect(providerStepsOf(made(facts)).steps[0]).toMatch(step)
  })

  test.each([
    { provider: 'processor', state: 'scheduled', step: /still runs.* remove the scheduled cancellation\.$/ },
    { provider: 'reseller', state: 'scheduled', step: /still runs.* remove the scheduled cancellation\.$/ },
    { provider: 'subscription', state: 'scheduled', step: /still runs.* remove the scheduled cancellation\.$/ },
    { provider: 'processor', state: 'succeeded', step: /create a new subscription/ },
    { provider: 'reseller', state: 'succeeded', step: /buy it again/ },
    { provider: 'subscription', state: 'succeeded', step: /“Reactivate Subscription”/ },
  ] as const)('say how a $state cancellation of $provider is undone', ({ step, ...facts }) => {
    expect(providerStepsOf(made({ kind: 'cancellation', ...facts })).steps[0]).toMatch(step)
  })

  test('have nothing about money that did not move', () => {
    expect(providerStepsOf(made({ state: 'failed' })).steps.join(' ')).not.toMatch(/refund/)
  })
})
