/** Writes that lose repeatedly to other processes are repeated later, and are not reported as `unavailable`. */
import { objectReference } from '@backstop/contracts'
import { createManualClock } from '@backstop/kit/test'
import { openMemoryBooks } from '@backstop/ledger/test'
import { expectedChangeDocument, MINUTE, PROJECT, refundShown, SECOND, sourceOf, T0 } from '@backstop/verdict/test'
import { expect, test } from 'vitest'
import { type ReconcileParts, reconcileBatch } from '../src/batch/reconcile-batch.ts'
import type { WorkItem } from '../src/batch/work-item.ts'
import { createRequestedIncidents } from '../src/incidents/requested-incidents.ts'
import type { ReconcilerStores } from '../src/stores.ts'
import { connectionOf } from './connection-of.ts'
import { createMemoryStores } from './memory-stores/memory-store.ts'

const clock = createManualClock(T0 + SECOND)

function partsOver(stores: ReconcilerStores): ReconcileParts {
  return {
    stores,
    ledger: openMemoryBooks({ announce: () => {} }).ledger,
    publisher: { publish: async () => ({ stuck: 0 }) },
    producer: { start: async () => {}, stop: async () => {}, send: async () => {} },
    codec: { encode: () => Buffer.alloc(0) },
    clock,
    rules: { recheckDelayMs: MINUTE },
  }
}

const REFUND: WorkItem = {
  kind: 'sighting',
  projectId: PROJECT,
  sighting: refundShown({ providerRef: 're_1', about: ['pi_1'], createdAt: T0 }),
  source: sourceOf('evt_1', 'refund.created', { connection: { id: 'con_a', createdAt: T0 - MINUTE } }),
}

function storesWithConnection() {
  const stores = createMemoryStores()
  stores.contents.connections.set('con_a', connectionOf('con_a', {}))
  return stores
}

const lostRace = (message: RegExp) => ({
  code: 'conflict',
  retryable: true,
  message: expect.stringMatching(message),
})

test('a batch is repeated if other processes keep writing its payment', async () => {
  const stores = storesWithConnection()
  const save = async (changes: readonly { next: { id: string } }[]) => new Set(changes.map(({ next }) => next.id))
  const batch = reconcileBatch([REFUND], partsOver({ ...stores, cases: { ...stores.cases, save } }))
  await expect(batch).rejects.toMatchObject(
    lostRace(/^Another writer changed case case_\w+ at the same time; retry later$/),
  )
})

test('a batch is repeated if other processes keep writing its expected change', async () => {
  const stores = storesWithConnection()
  stores.contents.expectedChanges.push(
    expectedChangeDocument('exp_1', { created_at: new Date(T0), expires_at: new Date(T0 + 60 * MINUTE) }),
  )
  await reconcileBatch([REFUND], partsOver(stores))
  await clock.advance(MINUTE)
  const [seen] = [...stores.contents.cases.values()].flatMap(({ actions }) => actions)
  const look: WorkItem = {
    kind: 'recheck',
    recheck: {
      project_id: PROJECT,
      ref: objectReference(PROJECT, 'processor', undefined, 're_1'),
      look_id: seen?.id ?? '',
      due_at: new Date(seen?.look?.dueAt ?? 0).toISOString(),
    },
  }
  const expectedChangeUses = { ...stores.expectedChangeUses, save: async () => false }
  const batch = reconcileBatch([look], partsOver({ ...stores, expectedChangeUses }))
  await expect(batch).rejects.toMatchObject(lostRace(/^Another writer changed expected change exp_1 at/))
})

test('a command is repeated if other processes keep writing its incident', async () => {
  const { standaloneIncidents: channelIncidents, connections } = createMemoryStores()
  const about = { command_id: 'cmd_1', project_id: PROJECT, incident_id: 'inc_1', channel_id: 'chn_1' }
  const at = { requested_at: new Date(T0).toISOString() }
  const incidents = createRequestedIncidents({
    incidents: { ...channelIncidents, replace: async () => undefined },
    connections,
    publisher: { publish: async () => ({ stuck: 0 }) },
    clock,
  })
  await incidents.open({ ...about, ...at, kind: 'open_channel_incident', channel_name: 'Ops', reason: 'Gone' })
  const resolving = incidents.resolve({ ...about, ...at, kind: 'resolve_channel_incident' })
  await expect(resolving).rejects.toMatchObject(lostRace(/^Another writer changed incident inc_1 at/))
})
