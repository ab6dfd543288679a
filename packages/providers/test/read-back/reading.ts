import { systemClock } from '@backstop/kit'
import { describe, expect, test } from 'vitest'
import type { Provider } from '../../src/provider.ts'
import { MINUTE, START, useSetting } from './reader-harness.ts'
import type { OpenWorld } from './test-accounts.ts'

/** Targets are found as they are, asked for again while they may be late, and never faster than is allowed. */
export function describeReading(provider: Provider, openWorld: OpenWorld): void {
  const { readBack } = provider
  const setting = useSetting(provider, openWorld)

  describe(`reading back from the ${provider.kind}`, () => {
    test('finds a refund by its id, the refunds of a payment and a subscription as they are', async () => {
      const { world, reader } = await setting.openAccount()
      const { refundId, paymentId } = world.refund()
      const subscriptionId = world.subscribe()
      world.cancelLater(subscriptionId)
      for (const targets of [setting.refundTargets(refundId), setting.refundTargets(null, paymentId)]) {
        expect(await setting.find(reader, targets)).toContainEqual(
          expect.objectContaining({ kind: 'action', action: 'refund', providerRef: refundId, amount: 100 }),
        )
      }
      expect(await setting.find(reader, setting.endTargets(subscriptionId))).toEqual([
        expect.objectContaining({
          kind: 'subscription',
          subject: subscriptionId,
          cancellation: expect.objectContaining({ phase: 'scheduled' }),
        }),
      ])
    })

    test('names no target where nothing is named', () => {
      expect(readBack.targetsOf({ action: 'refund', providerRef: null, objectIds: [] })).toEqual([])
      expect(readBack.targetsOf({ action: 'cancellation', providerRef: null, objectIds: [] })).toEqual([])
    })

    test('asks again for what is not there yet, because the copy that answers may lag behind', async () => {
      const { world, reader } = await setting.openAccount()
      world.api.lagReads(3_000)
      const { refundId } = world.refund()
      expect(await setting.ask(reader, setting.refundTargets(refundId))).toMatchObject({ kind: 'read' })
      expect(setting.clock.now() - START).toBeGreaterThanOrEqual(3_000)
    })

    test('says not found only after it asked several times, and soon', async () => {
      const { world, reader } = await setting.openAccount()
      expect(await setting.ask(reader, setting.refundTargets('txn_unknown'))).toEqual({ kind: 'not_found' })
      expect(world.api.calls().length).toBeGreaterThanOrEqual(3)
      expect(setting.clock.now() - START).toBeLessThan(10_000)
    })

    test('does not say not found when there was no time to ask again', async () => {
      const { reader } = await setting.openAccount()
      expect(await reader.read(setting.refundTargets('txn_unknown'), 200)).toMatchObject({
        kind: 'failed',
        failure: 'unreachable',
      })
    })

    test('gives what it found when another target stays unknown', async () => {
      const { world, reader } = await setting.openAccount()
      const { refundId } = world.refund()
      const targets = [...setting.refundTargets(refundId), ...setting.endTargets('sub_unknown')]
      expect(await setting.find(reader, targets)).toMatchObject([{ kind: 'action', providerRef: refundId }])
    })

    test('keeps to the rate that the provider allows, however much is asked at once', async () => {
      const { world, reader } = await setting.openAccount()
      const ids = Array.from({ length: 260 }, () => world.refund().refundId)
      const answers = await Promise.all(ids.map(id => reader.read(setting.refundTargets(id), 60 * MINUTE)))
      expect(answers.filter(answer => answer.kind !== 'read')).toEqual([])
      expect(setting.clock.statuses.filter(status => status === 429)).toEqual([])
      const tookMinutes = (setting.clock.now() - START) / MINUTE
      expect(260 / Math.max(1, tookMinutes)).toBeLessThanOrEqual(readBack.limits.requestsPerMinute + 10)
    })

    test('has no more requests under way than the limit says, and shares no connection with another reader', async () => {
      const waiting: (() => void)[] = []
      const server = await setting.serve((_request, response) => void waiting.push(() => response.writeHead(500).end()))
      const readers = [
        setting.openReader(server.url, { clock: systemClock }),
        setting.openReader(server.url, { clock: systemClock }),
      ]
      const stopping = new AbortController()
      const asked = readers.flatMap(reader =>
        Array.from({ length: 10 }, () => reader.read(setting.refundTargets('txn_1'), MINUTE, stopping.signal)),
      )
      await expect.poll(() => waiting.length).toBe(2 * readBack.limits.concurrent)
      expect(server.connections.open).toBe(2 * readBack.limits.concurrent)
      stopping.abort()
      await Promise.all(asked)
    })

    test('tells at once when so much is asked that a turn would come too late', async () => {
      const { world, reader } = await setting.openAccount()
      const { refundId } = world.refund()
      const asked = Array.from({ length: 300 }, () => reader.read(setting.refundTargets(refundId), 2_000))
      const answers = await Promise.all(asked)
      expect(answers.some(answer => answer.kind === 'read')).toBe(true)
      expect(answers).toContainEqual(expect.objectContaining({ kind: 'failed', failure: 'rate_limited' }))
      expect(setting.clock.now() - START).toBeLessThanOrEqual(2_100)
    })
  })
}
