import { sleep } from '@backstop/kit'
import { describe, expect, test } from 'vitest'
import type { Provider } from '../../src/provider.ts'
import { json, passOn } from './answers.ts'
import { MINUTE, START, useSetting } from './reader-harness.ts'
import type { Refusal } from './refusals.ts'
import type { OpenWorld } from './test-accounts.ts'

/** Every refusal in the provider's own words has its name, and is met as it deserves. */
export function describeRefusing(provider: Provider, openWorld: OpenWorld, refusals: readonly Refusal[]): void {
  const setting = useSetting(provider, openWorld)

  describe(`what the ${provider.kind} refuses`, () => {
    const targets = () => [...setting.refundTargets('txn_1'), ...setting.endTargets('sub_1')]

    test.each(refusals)('$name is $failure', async ({ status, body, failure }) => {
      const server = await setting.serve(json(status, body))
      const reader = setting.openReader(server.url)
      for (const answer of [
        await setting.ask(reader, targets()),
        await reader.changes(null, START - MINUTE),
        await reader.schedules(null),
      ]) {
        expect(answer).toMatchObject({ kind: 'failed', failure })
        expect(JSON.stringify(answer)).not.toContain('In words')
        expect(JSON.stringify(answer)).not.toContain('rk_test')
      }
    })

    test('is asked again until the deadline where it may pass, and once where it cannot', async () => {
      for (const { status, body, failure } of refusals) {
        const server = await setting.serve(json(status, body))
        const from = setting.clock.now()
        await setting.openReader(server.url).read(setting.refundTargets('txn_1').slice(0, 1), 30_000)
        const passes = failure === 'rate_limited' || failure === 'provider_unavailable'
        const [least, most] = passes ? [5, 50] : [1, 1]
        expect(server.requests.length, JSON.stringify(body)).toBeGreaterThanOrEqual(least)
        expect(server.requests.length, JSON.stringify(body)).toBeLessThanOrEqual(most)
        expect(setting.clock.now() - from).toBeLessThanOrEqual(30_000)
      }
    })

    test.each([
      { name: 'seconds', retryAfter: () => '7' },
      { name: 'a date', retryAfter: () => new Date(setting.clock.now() + 7_500).toUTCString() },
    ])('for a time given as $name says so at once, and is asked by nobody earlier', async ({ retryAfter }) => {
      const { world } = await setting.openAccount()
      const { refundId } = world.refund()
      const limited = refusals.find(refusal => refusal.failure === 'rate_limited')
      const times: number[] = []
      const server = await setting.serve((request, response) => {
        times.push(setting.clock.now())
        const answer =
          times.length === 1 ? json(429, limited?.body, { 'retry-after': retryAfter() }) : passOn(world.api.url)
        answer(request, response)
      })
      const reader = setting.openReader(server.url)
      const ask = () => setting.ask(reader, setting.refundTargets(refundId))
      expect(await ask()).toMatchObject({ failure: 'rate_limited' })
      await sleep(setting.clock, 1_000)
      // The limit is the account's, so nobody else asks either.
      expect(await ask()).toMatchObject({ failure: 'rate_limited' })
      expect(times).toHaveLength(1)
      await sleep(setting.clock, 6_000)
      expect(await ask()).toMatchObject({ kind: 'read' })
    })

    test('for longer than the caller waits is said at once, with the time', async () => {
      const limited = refusals.find(refusal => refusal.failure === 'rate_limited')
      const server = await setting.serve(json(429, limited?.body, { 'retry-after': '300' }))
      const reader = setting.openReader(server.url)
      const target = setting.refundTargets('txn_1').slice(0, 1)
      expect(await setting.ask(reader, target)).toMatchObject({ failure: 'rate_limited', retryAfterMs: 300_000 })
      expect(await setting.ask(reader, target)).toMatchObject({ failure: 'rate_limited', retryAfterMs: 300_000 })
      expect(server.requests).toHaveLength(1)
    })
  })
}
