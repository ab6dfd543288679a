import { systemClock } from '@backstop/kit/clock'
import { describe, expect, test } from 'vitest'
import type { Provider } from '../../src/provider.ts'
import { MINUTE, START, useReaderHarness } from './reader-harness.ts'
import type { OpenTestAccount } from './test-accounts.ts'

/** A read must return the present state of its targets, repeat reads of missing objects, and keep the rate limit. */
export function describeReads(provider: Provider, openTestAccount: OpenTestAccount): void {
  const { readBack } = provider
  const harness = useReaderHarness(provider, openTestAccount)

  describe(`reading back from the ${provider.kind}`, () => {
    test('finds a refund by its id, the refunds of a payment, and a subscription', async () => {
      const { account, reader } = await harness.openAccount()
      const { refundId, paymentId } = account.refund()
      const subscriptionId = account.subscribe()
      account.cancelLater(subscriptionId)
      for (const targets of [harness.refundTargets(refundId), harness.refundTargets(null, paymentId)]) {
        expect(await harness.find(reader, targets)).toContainEqual(
          expect.objectContaining({ kind: 'action', action: 'refund', providerRef: refundId, amount: 100 }),
        )
      }
      expect(await harness.find(reader, harness.endTargets(subscriptionId))).toEqual([
        expect.objectContaining({
          kind: 'subscription',
          subject: subscriptionId,
          cancellation: expect.objectContaining({ phase: 'scheduled' }),
        }),
      ])
    })

    test('has no targets for an action without ids', () => {
      expect(readBack.targetsOf({ action: 'refund', providerRef: null, objectIds: [] })).toEqual([])
      expect(readBack.targetsOf({ action: 'cancellation', providerRef: null, objectIds: [] })).toEqual([])
    })

    test('repeats the read of a missing object, because a replica may lag', async () => {
      const { account, reader } = await harness.openAccount()
      account.api.lagReads(3_000)
      const { refundId } = account.refund()
      expect(await harness.ask(reader, harness.refundTargets(refundId))).toMatchObject({ kind: 'read' })
      expect(harness.clock.now() - START).toBeGreaterThanOrEqual(3_000)
    })

    test('answers not_found after several reads, within ten seconds', async () => {
      const { account, reader } = await harness.openAccount()
      expect(await harness.ask(reader, harness.refundTargets('txn_unknown'))).toEqual({ kind: 'not_found' })
      expect(account.api.calls().length).toBeGreaterThanOrEqual(3)
      expect(harness.clock.now() - START).toBeLessThan(10_000)
    })

    test('fails when the deadline leaves no time to repeat the read of a missing object', async () => {
      const { reader } = await harness.openAccount()
      expect(await reader.read(harness.refundTargets('txn_unknown'), 200)).toMatchObject({
        kind: 'failed',
        failure: 'unreachable',
      })
    })

    test('returns the found objects when another target stays missing', async () => {
      const { account, reader } = await harness.openAccount()
      const { refundId } = account.refund()
      const targets = [...harness.refundTargets(refundId), ...harness.endTargets('sub_unknown')]
      expect(await harness.find(reader, targets)).toMatchObject([{ kind: 'action', providerRef: refundId }])
    })

    test('keeps the rate limit of the provider for any number of simultaneous reads', async () => {
      const { account, reader } = await harness.openAccount()
      const ids = Array.from({ length: 260 }, () => account.refund().refundId)
      const answers = await Promise.all(ids.map(id => reader.read(harness.refundTargets(id), 60 * MINUTE)))
      expect(answers.filter(answer => answer.kind !== 'read')).toEqual([])
      expect(harness.clock.statuses.filter(status => status === 429)).toEqual([])
      const tookMinutes = (harness.clock.now() - START) / MINUTE
      expect(260 / Math.max(1, tookMinutes)).toBeLessThanOrEqual(readBack.limits.requestsPerMinute + 10)
    })

    test('keeps the limit of requests in flight, and shares no connection with another reader', async () => {
      const waiting: (() => void)[] = []
      const server = await harness.serve((_request, response) => void waiting.push(() => response.writeHead(500).end()))
      const readers = [
        harness.openReader(server.url, { clock: systemClock }),
        harness.openReader(server.url, { clock: systemClock }),
      ]
      const stopping = new AbortController()
      const asked = readers.flatMap(reader =>
        Array.from({ length: 10 }, () => reader.read(harness.refundTargets('txn_1'), MINUTE, stopping.signal)),
      )
      await expect.poll(() => waiting.length).toBe(2 * readBack.limits.concurrent)
      expect(server.connections.open).toBe(2 * readBack.limits.concurrent)
      stopping.abort()
      await Promise.all(asked)
    })

    test('answers rate_limited at once when the rate limit delays a read beyond its deadline', async () => {
      const { account, reader } = await harness.openAccount()
      const { refundId } = account.refund()
      const asked = Array.from({ length: 300 }, () => reader.read(harness.refundTargets(refundId), 2_000))
      const answers = await Promise.all(asked)
      expect(answers.some(answer => answer.kind === 'read')).toBe(true)
      expect(answers).toContainEqual(expect.objectContaining({ kind: 'failed', failure: 'rate_limited' }))
      expect(harness.clock.now() - START).toBeLessThanOrEqual(2_100)
    })
  })
}
