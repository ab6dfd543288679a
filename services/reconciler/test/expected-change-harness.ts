import { objectReference } from '@backstop/contracts'
import { createManualClock } from '@backstop/kit/test'
import { openMemoryBooks } from '@backstop/ledger/test'
import {
  expectedChangeDocument,
  MINUTE,
  operation,
  PROJECT,
  refundShown,
  SECOND,
  sourceOf,
  T0,
} from '@backstop/verdict/test'
import { type ReconcileParts, reconcileBatch } from '../src/batch/reconcile-batch.ts'
import type { WorkItem } from '../src/batch/work-item.ts'
import { createExpectedChangeApplier } from '../src/commands/apply-expected-changes.ts'
import { connectionOf } from './connection-of.ts'
import { type CrashPoint, withCrashPoints } from './crash-points.ts'
import { createMemoryStores } from './memory-stores/memory-store.ts'

const DAY = 24 * 60 * MINUTE

export class Crash extends Error {}

/** A reconciler whose cases claim the uses of the expected change `exp_1`. */
export function expectedChangeHarness() {
  const clock = createManualClock(T0 + SECOND)
  const stores = createMemoryStores()
  stores.contents.connections.set('con_a', connectionOf('con_a', {}))
  let crashAt: CrashPoint | undefined
  const parts: ReconcileParts = {
    stores,
    ledger: openMemoryBooks({ announce: () => {} }).ledger,
    publisher: { publish: async () => ({ stuck: 0 }) },
    producer: { start: async () => {}, stop: async () => {}, send: async () => {} },
    codec: { encode: () => Buffer.alloc(0) },
    clock,
    rules: { recheckDelayMs: MINUTE },
  }
  const killable = withCrashPoints(parts, point => {
    if (point !== crashAt) return
    crashAt = undefined
    throw new Crash(point)
  })
  const reconcile = async (...items: WorkItem[]) => {
    if (items.some(({ kind }) => kind === 'recheck')) await clock.advance(MINUTE)
    await reconcileBatch(items, killable)
  }
  const cases = () => [...stores.contents.cases.values()].flatMap(theCase => theCase.actions)
  const refund = (name: string, amount = 2_499, more: Parameters<typeof refundShown>[0] = {}): WorkItem => ({
    kind: 'sighting',
    projectId: PROJECT,
    sighting: refundShown({ providerRef: `re_${name}`, about: [`pi_${name}`], amount, createdAt: T0, ...more }),
    source: sourceOf(`evt_${name}`, 'refund.created', { connection: { id: 'con_a', createdAt: T0 - 30 * DAY } }),
  })
  /** The second look at the refund, which is due at this time. */
  const look = (name: string): WorkItem[] =>
    cases().flatMap(({ id: look_id, providerRef, look }) => {
      if (providerRef !== `re_${name}` || look === null) return []
      const ref = objectReference(PROJECT, 'processor', undefined, `re_${name}`)
      const due_at = new Date(look.dueAt).toISOString()
      return [{ kind: 'recheck', recheck: { project_id: PROJECT, ref, look_id, due_at } }]
    })
  const operationOf = (name: string, more: Parameters<typeof operation>[0] = {}): WorkItem => {
    const names = { operation_id: `op_${name}`, subject: `pi_${name}`, provider_ref: `re_${name}`, amount: null }
    return { kind: 'operation', operation: operation({ ...names, currency: null, ...more }) }
  }
  return {
    clock,
    stores,
    reconcile,
    refund,
    look,
    operationOf,
    put: (more: Parameters<typeof expectedChangeDocument>[1] = {}) => {
      const times = { created_at: new Date(clock.now()), expires_at: new Date(T0 + 60 * MINUTE) }
      stores.contents.expectedChanges.push(expectedChangeDocument('exp_1', { ...times, ...more }))
    },
    /** The next batch that reaches this crash point fails there. */
    crash: (at: CrashPoint) => {
      crashAt = at
    },
    covered: () =>
      cases().flatMap(({ expectedChangeId, providerRef }) => (expectedChangeId === null ? [] : [providerRef])),
    verdicts: () => Object.fromEntries(cases().map(({ providerRef, verdict }) => [providerRef, verdict])),
    actions: cases,
    uses: () => (stores.contents.expectedChangeUses.get('exp_1')?.uses ?? []).length,
    incidents: () => [...stores.contents.incidents.values()].map(({ state }) => state).sort(),
    applied: createExpectedChangeApplier({ stores, reconcile: async items => reconcile(...items) }),
  }
}
