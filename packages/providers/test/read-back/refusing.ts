import { sleep } from '@backstop/kit/clock'
import { describe, expect, test } from 'vitest'
import type { Provider } from '../../src/provider.ts'
import { forwardTo, json } from './answers.ts'
import { MINUTE, START, useReaderHarness } from './reader-harness.ts'
import type { Refusal } from './refusals.ts'
import type { OpenTestAccount } from './test-accounts.ts'

/** Every refusal of the provider's API must be reported as its failure, and be retried only if a retry can help. */
export function describeRefusals(
  provider: Provider,
  openTestAccount: OpenTestAccount,
  refusals: readonly Refusal[],
): void {
  const harness = useReaderHarness(provider, openTestAccount)

  describe(`a refusal of the ${provider.kind}`, () => {
    const targets = () => [...harness.refundTargets('txn_1'), ...harness.endTargets('sub_1')]

    test.each(refusals)('$name is $failure', async ({ status, body, failure }) => {
      const server = await harness.serve(json(status, body))
      const reader = harness.openReader(server.url)
      for (const answer of [
        await harness.ask(reader, targets()),
        await reader.changes(null, START - MINUTE),
        await reader.schedules(null),
      ]) {
        expect(answer).toMatchObject({ kind: 'failed', failure })
        expect(JSON.stringify(answer)).not.toContain('In words')
        expect(JSON.stringify(answer)).not.toContain('rk_test')
      }
    })

    test('is retried until the deadline if it is temporary, and never otherwise', async () => {
      for (const { status, body, failure } of refusals) {
        const server = await harness.serve(json(status, body))
        const from = harness.clock.now()
        await harness.openReader(server.url).read(harness.refundTargets('txn_1').slice(0, 1), 30_000)
        const passes = failure === 'rate_limited' || failure === 'provider_unavailable'
        // A refused request may be repeated once, without the optional parts of the object.
        const [least, most] = passes ? [5, 50] : [1, 2]
        expect(server.requests.length, JSON.stringify(body)).toBeGreaterThanOrEqual(least)
        expect(server.requests.length, JSON.stringify(body)).toBeLessThanOrEqual(most)
        expect(harness.clock.now() - from).toBeLessThanOrEqual(30_000)
      }
    })

    test.each([
      { name: 'seconds', retryAfter: () => '7' },
      { name: 'a date', retryAfter: () => new Date(harness.clock.now() + 7_500).toUTCString() },
    ])('with a Retry-After as $name fails at once, and no read is sent earlier', async ({ retryAfter }) => {
      const { account } = await harness.openAccount()
      const { refundId } = account.refund()
      const limited = refusals.find(refusal => refusal.failure === 'rate_limited')
      const times: number[] = []
      const server = await harness.serve((request, response) => {
        times.push(harness.clock.now())
        const answer =
          times.length === 1 ? json(429, limited?.body, { 'retry-after': retryAfter() }) : forwardTo(account.api.url)
        answer(request, response)
      })
      const reader = harness.openReader(server.url)
      const ask = () => harness.ask(reader, harness.refundTargets(refundId))
      expect(await ask()).toMatchObject({ failure: 'rate_limited' })
      await sleep(harness.clock, 1_000)
      // A second read is not sent either, because the limit is that of the account.
      expect(await ask()).toMatchObject({ failure: 'rate_limited' })
      expect(times).toHaveLength(1)
      await sleep(harness.clock, 6_000)
      expect(await ask()).toMatchObject({ kind: 'read' })
    })

    test('with a Retry-After beyond the deadline fails at once, with the time', async () => {
      const limited = refusals.find(refusal => refusal.failure === 'rate_limited')
      const server = await harness.serve(json(429, limited?.body, { 'retry-after': '300' }))
      const reader = harness.openReader(server.url)
      const target = harness.refundTargets('txn_1').slice(0, 1)
      expect(await harness.ask(reader, target)).toMatchObject({ failure: 'rate_limited', retryAfterMs: 300_000 })
      expect(await harness.ask(reader, target)).toMatchObject({ failure: 'rate_limited', retryAfterMs: 300_000 })
      expect(server.requests).toHaveLength(1)
    })
  })
}
