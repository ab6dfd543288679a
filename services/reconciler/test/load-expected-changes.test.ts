/** The expected changes that a batch loads: by all names that the case of a look has, or gets in the same batch. */
import { objectReference, type Readback } from '@backstop/contracts'
import { createManualClock } from '@backstop/kit/test'
import { openMemoryBooks } from '@backstop/ledger/test'
import type { Input } from '@backstop/verdict'
import {
  expectedChangeDocument,
  MINUTE,
  PROJECT,
  refundSeen,
  refundShown,
  SECOND,
  sightingInput,
  T0,
} from '@backstop/verdict/test'
import { expect, test } from 'vitest'
import type { ExpectedChangesQuery } from '../src/batch/expected-change-store.ts'
import { type ReconcileParts, reconcileBatch } from '../src/batch/reconcile-batch.ts'
import type { WorkItem } from '../src/batch/work-item.ts'
import { connectionOf } from './connection-of.ts'
import { createMemoryStores } from './memory-stores/memory-store.ts'

function harness() {
  const clock = createManualClock(T0)
  const stores = createMemoryStores()
  const read_key = { sealed: 'k', fingerprint: 'f', created_at: new Date(T0), expires_at: null }
  stores.contents.connections.set('con_a', connectionOf('con_a', {}))
  stores.contents.connections.set('con_b', connectionOf('con_b', { kind: 'subscription', read_key, site: 'acme' }))
  const queries: ExpectedChangesQuery[] = []
  const expectedChanges: typeof stores.expectedChanges = {
    ...stores.expectedChanges,
    find: async query => {
      queries.push(query)
      return stores.expectedChanges.find(query)
    },
  }
  const parts: ReconcileParts = {
    stores: { ...stores, expectedChanges },
    ledger: openMemoryBooks({ announce: () => {} }).ledger,
    publisher: { publish: async () => ({ stuck: 0 }) },
    producer: { start: async () => {}, stop: async () => {}, send: async () => {} },
    codec: { encode: () => Buffer.alloc(0) },
    clock,
    rules: { recheckDelayMs: MINUTE },
  }
  const sightings = (...inputs: Input[]): WorkItem[] =>
    inputs.flatMap(input => (input.kind === 'sighting' ? { projectId: PROJECT, ...input, kind: 'sighting' } : []))
  const actions = () => [...stores.contents.actions.values()].filter(action => action.merged_into === undefined)
  return {
    clock,
    queries,
    expectedChanges: stores.contents.expectedChanges,
    reconcile: (...inputs: Input[]) => reconcileBatch(sightings(...inputs), parts),
    async secondLook() {
      await clock.advance(MINUTE)
      const due_at = new Date(clock.now()).toISOString()
      for (const { action_id: look_id, provider, subject } of actions()) {
        const site = provider === 'subscription' ? 'acme' : undefined
        const look = { look_id, due_at, ref: objectReference(PROJECT, provider, site, subject) }
        const asked: WorkItem = { kind: 'recheck', recheck: { project_id: PROJECT, ...look } }
        const readback: Readback = { ...NOTHING_READ, provider, look }
        await reconcileBatch(provider === 'subscription' ? [asked, { kind: 'readback', readback }] : [asked], parts)
      }
    },
    verdicts: () => actions().map(({ verdict, reason }) => `${verdict} ${reason}`),
    incidents: () => [...stores.contents.incidents.values()].map(({ state }) => state),
  }
}

/** The provider's answer, without new objects. */
const NOTHING_READ: Readback = {
  readback_id: 'rbk_1',
  project_id: PROJECT,
  connection_id: 'con_b',
  provider: 'subscription',
  reason: 'second_look',
  event: null,
  look: null,
  targets: [],
  read_at: new Date(T0 + MINUTE).toISOString(),
  outcome: 'read',
  failure: null,
  objects: [],
}
const named = (subject: string) =>
  expectedChangeDocument(`exp_${subject}`, { subject, expires_at: new Date(T0 + 60 * MINUTE) })
const byCharge = refundSeen({ paymentIntent: null })

test('a look loads the expected changes about its case or without a subject, and no others', async () => {
  const { expectedChanges, queries, reconcile, secondLook, verdicts } = harness()
  expectedChanges.push(named('pi_1'), named('pi_2'))
  await reconcile(refundSeen())
  expect(queries).toEqual([])
  await secondLook()
  expect(verdicts()).toEqual(['explained expected_change_matches'])
  expect(queries.map(({ names }) => [...names].sort())).toEqual([['ch_1', 'pi_1', 're_1']])
})

test('an expected change about a name that becomes known after the alert explains the action, and the incident is resolved', async () => {
  const { expectedChanges, reconcile, secondLook, verdicts, incidents } = harness()
  expectedChanges.push(named('pi_1'))
  await reconcile(byCharge)
  await secondLook()
  expect(verdicts()).toEqual(['unexplained nothing_explains_it'])
  await reconcile(refundSeen({}, { eventId: 'evt_2' }))
  expect(verdicts()).toEqual(['explained expected_change_matches'])
  expect(incidents()).toEqual(['resolved'])
})

test('an expected change about a name that becomes known by a merge explains the action too', async () => {
  const { expectedChanges, reconcile, secondLook, verdicts } = harness()
  expectedChanges.push(named('pi_1'))
  const atBiller = { provider: 'subscription', providerRef: 'txn_1', about: ['sub_1'], createdAt: T0 } as const
  const unlinked = refundShown({ ...atBiller, stateVersion: 1 })
  const through = { connection: { id: 'con_b', createdAt: T0 - MINUTE } }
  await reconcile(sightingInput(unlinked, through))
  await secondLook()
  expect(verdicts()).toEqual(['unexplained nothing_explains_it'])
  await reconcile(refundSeen())
  // It names the refund at the gateway, but not the payment there.
  await reconcile(sightingInput(refundShown({ ...atBiller, gatewayRefs: ['re_1'], stateVersion: 2 }), through))
  expect(verdicts()).toEqual(['explained expected_change_matches'])
})

test('names of the same batch are looked up, even if they are linked by another event', async () => {
  const { expectedChanges, reconcile, secondLook, verdicts } = harness()
  expectedChanges.push(named('inv_1'))
  await reconcile(byCharge)
  await secondLook()
  const shown = { providerRef: 're_1', createdAt: T0 + SECOND }
  await reconcile(
    refundSeen({}, { eventId: 'evt_2' }),
    sightingInput(refundShown({ ...shown, about: ['pi_1', 'inv_1'] }), { eventId: 'evt_3' }),
  )
  expect(verdicts()).toEqual(['explained expected_change_matches'])
})

test('events that add no name to an action with a verdict load no expected changes', async () => {
  const { queries, reconcile, secondLook } = harness()
  await reconcile(refundSeen(), refundSeen({ id: 're_2', charge: 'ch_2', paymentIntent: 'pi_2' }))
  await reconcile(refundSeen({ paymentIntent: 'pi_9' }, { eventId: 'evt_2' }))
  await secondLook()
  queries.length = 0
  await reconcile(refundSeen({ status: 'succeeded' }, { eventId: 'evt_3' }))
  expect(queries).toEqual([])
})
