/**
 * A second look finds operations in the ledger by names that the payment gets in the same batch. The ledger is asked
 * because the operations topic may lag.
 */
import type { NewOperation } from '@backstop/contracts'
import { objectReference } from '@backstop/contracts'
import { createManualClock } from '@backstop/kit/test'
import { openMemoryBooks } from '@backstop/ledger/test'
import type { Input } from '@backstop/verdict'
import { CONNECTION, MINUTE, PROJECT, refundSeen, T0 } from '@backstop/verdict/test'
import { expect, test } from 'vitest'
import { type ReconcileParts, reconcileBatch } from '../src/batch/reconcile-batch.ts'
import type { WorkItem } from '../src/batch/work-item.ts'
import { connectionOf } from './connection-of.ts'
import { createMemoryStores } from './memory-stores/memory-store.ts'

/**
 * The second look at a refund that names only its charge. The same batch contains an event that also names its payment.
 */
async function takeLinkingLook(report: Partial<NewOperation>) {
  const clock = createManualClock(T0)
  const stores = createMemoryStores()
  const connection = connectionOf(CONNECTION, {})
  stores.contents.connections.set(CONNECTION, connection)
  const { ledger } = openMemoryBooks({ announce: () => {} })
  const parts: ReconcileParts = {
    stores,
    ledger,
    publisher: { publish: async () => ({ stuck: 0 }) },
    producer: { start: async () => {}, stop: async () => {}, send: async () => {} },
    codec: { encode: () => Buffer.alloc(0) },
    clock,
    rules: { recheckDelayMs: MINUTE },
  }
  const sightings = (input: Input): WorkItem[] =>
    input.kind === 'sighting' ? [{ projectId: PROJECT, ...input, kind: 'sighting' }] : []
  await reconcileBatch(sightings(refundSeen({ paymentIntent: null })), parts)
  const asked = { connection_id: CONNECTION, kind: 'refund', subject: 'pi_1', amount: 2499, currency: 'eur' } as const
  await ledger.record({ ...asked, state: 'completed', ...report }, connection, T0)
  await clock.advance(MINUTE)
  const [action] = [...stores.contents.actions.values()]
  const due_at = new Date(clock.now()).toISOString()
  const ref = objectReference(PROJECT, 'processor', undefined, 'ch_1')
  const recheck = { project_id: PROJECT, look_id: action?.action_id ?? '', due_at, ref }
  await reconcileBatch([...sightings(refundSeen({}, { eventId: 'evt_2' })), { kind: 'recheck', recheck }], parts)
  return [...stores.contents.actions.values()]
}

test('finds the operation that names only the payment', async () => {
  expect(await takeLinkingLook({})).toMatchObject([{ verdict: 'explained', reason: 'amount_and_time_match' }])
})

test('shows why an operation that was only requested explains nothing', async () => {
  expect(await takeLinkingLook({ state: 'requested' })).toMatchObject([
    { verdict: 'unexplained', why: { candidates: [{ failure: 'operation_did_not_act' }] } },
  ])
})
