/** An operation alone makes no case. The event of its payment reads it from the ledger, and a search finds the operations that no case knows. */
import type { NewOperation, Operation } from '@backstop/contracts'
import { AppError } from '@backstop/kit/errors'
import { createLogger } from '@backstop/kit/logger'
import { createManualClock } from '@backstop/kit/test'
import { openMemoryBooks } from '@backstop/ledger/test'
import { pendingLooks } from '@backstop/verdict'
import { CONNECTION, MINUTE, PROJECT, refundSeen, SECOND, T0 } from '@backstop/verdict/test'
import { describe, expect, test } from 'vitest'
import { type ReconcileParts, reconcileBatch } from '../src/batch/reconcile-batch.ts'
import type { WorkItem } from '../src/batch/work-item.ts'
import type { CaseChange } from '../src/cases/case-store.ts'
import { createUnknownOperations } from '../src/sweep/unknown-operations.ts'
import { connectionOf } from './connection-of.ts'
import { CRASH_POINTS, withCrashPoints } from './crash-points.ts'
import { createMemoryStores } from './memory-stores/memory-store.ts'

function openReconciler() {
  const clock = createManualClock(T0)
  const stores = createMemoryStores()
  const { contents } = stores
  const connection = connectionOf(CONNECTION, {})
  contents.connections.set(CONNECTION, connection)
  const { ledger } = openMemoryBooks({ announce: () => {} })
  const writes: CaseChange[] = []
  const save: typeof stores.cases.save = changes => {
    writes.push(...changes)
    return stores.cases.save(changes)
  }
  const parts: ReconcileParts = {
    stores: { ...stores, cases: { ...stores.cases, save } },
    ledger,
    publisher: { publish: async () => ({ stuck: 0 }) },
    producer: { start: async () => {}, stop: async () => {}, send: async () => {} },
    codec: { encode: () => Buffer.alloc(0) },
    clock,
    rules: { recheckDelayMs: MINUTE },
  }
  const reconcile = async (items: readonly WorkItem[], changed: Partial<ReconcileParts> = {}) =>
    void (await reconcileBatch(items, { ...parts, ...changed }))
  const search = (apply: (items: readonly WorkItem[]) => Promise<void> = reconcile) =>
    createUnknownOperations({
      ...stores,
      search: stores.operationSearch,
      ledger,
      reconcile: apply,
      clock,
      logger: createLogger('test', 'silent'),
    })
  const asked = { connection_id: CONNECTION, kind: 'refund', subject: 'pi_1', amount: 2499, currency: 'eur' } as const
  return {
    clock,
    stores,
    ledger,
    writes,
    parts,
    reconcile,
    /** Stores an operation, as a report does, and returns its message. */
    async record(report: Partial<NewOperation> = {}): Promise<WorkItem & { operation: Operation }> {
      const { operation } = await ledger.record({ ...asked, state: 'completed', ...report }, connection, clock.now())
      return { kind: 'operation', operation }
    },
    cases: () => [...contents.cases.values()],
    verdicts: () => [...contents.actions.values()].map(({ verdict }) => verdict),
    search,
    /** Searches for this time; after three minutes all operations are compared. @returns those that were applied */
    async compareAll(forMs = 3 * MINUTE): Promise<readonly WorkItem[]> {
      const applied: WorkItem[] = []
      const searching = search(async items => {
        applied.push(...items)
        await reconcile(items)
      })
      searching.start()
      await clock.advance(forMs)
      await searching.stop()
      return applied
    },
  }
}

function eventOf(input: ReturnType<typeof refundSeen>): WorkItem[] {
  return input.kind === 'sighting' ? [{ projectId: PROJECT, ...input, kind: 'sighting' }] : []
}

test('an operation makes no case, and its event is explained at once with a single write of the case', async () => {
  const { record, reconcile, cases, verdicts, writes } = openReconciler()
  await reconcile([await record()])
  expect(cases()).toEqual([])
  await reconcile(eventOf(refundSeen()))
  expect(verdicts()).toEqual(['explained'])
  expect(writes).toHaveLength(1)
})

test('an operation in the same batch as its event explains it', async () => {
  const { record, reconcile, verdicts, writes } = openReconciler()
  await reconcile([await record(), ...eventOf(refundSeen())])
  expect(verdicts()).toEqual(['explained'])
  expect(writes).toHaveLength(1)
})

test('an operation that comes after its event changes the case', async () => {
  const { record, reconcile, verdicts } = openReconciler()
  await reconcile(eventOf(refundSeen()))
  expect(verdicts()).toEqual(['pending'])
  await reconcile([await record()])
  expect(verdicts()).toEqual(['explained'])
})

test('a refund that names only its charge belongs to the payment that its operation names', async () => {
  const { record, reconcile, cases, verdicts } = openReconciler()
  await reconcile(eventOf(refundSeen({ id: 're_2', charge: null })))
  await record({ provider_ref: 're_1' })
  await reconcile(eventOf(refundSeen({ paymentIntent: null })))
  expect(cases()).toHaveLength(1)
  expect(verdicts()).toEqual(['pending', 'explained'])
})

test('an operation that is stored and published while its event is decided explains it at the second look, and nothing alerts', async () => {
  const { record, reconcile, ledger, cases, verdicts, clock, stores } = openReconciler()
  const missed: Pick<typeof ledger, 'byReferences'> = {
    async byReferences() {
      await reconcile([await record()])
      return []
    },
  }
  await reconcile(eventOf(refundSeen()), { ledger: { ...ledger, ...missed } })
  expect(verdicts()).toEqual(['pending'])
  await clock.advance(MINUTE)
  const [look] = cases().flatMap(theCase =>
    pendingLooks(theCase).map(({ lookId }) => ({ lookId, ref: theCase.refs[0] })),
  )
  const due_at = new Date(clock.now()).toISOString()
  const recheck = { project_id: PROJECT, look_id: look?.lookId ?? '', ref: look?.ref ?? '', due_at }
  await reconcile([{ kind: 'recheck', recheck }])
  expect(verdicts()).toEqual(['explained'])
  expect(stores.contents.incidents.size).toBe(0)
})

/** A ledger that changes an operation just after the first event has read it, so that the operation's message finds no case. */
function changedAfterRead({ ledger, reconcile }: ReturnType<typeof openReconciler>, change: () => Promise<WorkItem>) {
  let isRead = false
  const byReferences: typeof ledger.byReferences = async refs => {
    const found = await ledger.byReferences(refs)
    if (!isRead) {
      isRead = true
      await reconcile([await change()])
    }
    return found
  }
  return { ledger: { ...ledger, byReferences } }
}

describe('an operation that changes while its event is decided, so that its message finds no case', () => {
  test.each([
    { to: 'awaiting_review' as const, status: 'pending', expected: 'settlement' },
    { to: 'failed' as const, status: 'succeeded', expected: 'drift.detected' },
    { to: 'completed' as const, status: 'failed', expected: 'drift.detected' },
  ])('has its state $to in the case two minutes later, with what follows from it', async ({ to, status, expected }) => {
    const opened = openReconciler()
    const { record, reconcile, ledger, cases, compareAll } = opened
    const { operation } = await record({ state: 'executing', provider_ref: 're_1' })
    const change = async () => ({
      kind: 'operation' as const,
      operation: (await ledger.transition(operation.operation_id, { to }, T0 + SECOND)).operation,
    })
    await reconcile(eventOf(refundSeen({ status })), changedAfterRead(opened, change))
    await compareAll(MINUTE + 59 * SECOND)
    expect(cases()).toMatchObject([{ operations: [{ state: 'executing' }] }])
    await compareAll(30 * SECOND)
    const [theCase] = cases()
    expect(theCase?.operations).toMatchObject([{ state: to }])
    const alerts = theCase?.outbox.map(({ message }) => (message as { event?: string }).event)
    const looks = theCase?.followedOperations.map(({ look }) => look?.why)
    expect([...(alerts ?? []), ...(looks ?? [])]).toContain(expected)
  })

  test('is checked like every completed operation, although another one explains the action', async () => {
    const opened = openReconciler()
    const { record, reconcile, cases, verdicts, compareAll } = opened
    await record({ provider_ref: 're_1' })
    const missed = { provider_ref: 're_2' }
    await reconcile(
      eventOf(refundSeen()),
      changedAfterRead(opened, () => record(missed)),
    )
    expect(verdicts()).toEqual(['explained'])
    expect(cases()).toMatchObject([{ operations: [{ provider_ref: 're_1' }] }])
    await compareAll()
    expect(cases()).toMatchObject([{ operations: [{ provider_ref: 're_1' }, missed] }])
    expect(cases().flatMap(pendingLooks)).toMatchObject([{ lookId: expect.stringMatching(/^missing_check/) }])
  })
})

test('only the operations that their case does not know in this version are applied', async () => {
  const { record, reconcile, ledger, writes, compareAll } = openReconciler()
  await record({ provider_ref: 're_1' })
  const { operation } = await record({ provider_ref: 're_2', state: 'executing' })
  await reconcile(eventOf(refundSeen()))
  await ledger.transition(operation.operation_id, { to: 'failed' }, T0 + SECOND)
  expect(writes).toHaveLength(1)
  expect(await compareAll()).toMatchObject([{ kind: 'operation', operation: { provider_ref: 're_2', version: 2 } }])
  expect(writes).toHaveLength(2)
  expect(await compareAll()).toEqual([])
})

test.each(CRASH_POINTS)(
  'an operation that the search applies is listed with its case, although the process ended %s',
  async crashAt => {
    const { record, parts, reconcile, ledger, stores, clock, search } = openReconciler()
    const { operation } = await record({ provider_ref: 're_1', state: 'executing' })
    await reconcile(eventOf(refundSeen()))
    await ledger.transition(operation.operation_id, { to: 'failed' }, T0 + SECOND)
    let crashes = 0
    const crashOnce = (name: string) => {
      if (name !== crashAt || crashes > 0) return
      crashes += 1
      throw new AppError('unavailable', 'The process ended', { retryable: true })
    }
    const killable = withCrashPoints(parts, crashOnce)
    const searching = search(items => reconcile(items, killable))
    searching.start()
    await clock.advance(5 * MINUTE)
    await searching.stop()
    expect(crashes).toBe(1)
    const listed = [...stores.contents.actions.values()]
    expect(listed).toMatchObject([
      { timeline: expect.arrayContaining([expect.objectContaining({ what: 'drift_detected' })]) },
    ])
  },
)

test('an operation of a payment that only another operation names is known to the case too', async () => {
  const { record, reconcile, cases } = openReconciler()
  await record({ provider_ref: 're_1' })
  const { operation } = await record()
  await reconcile(eventOf(refundSeen({ paymentIntent: null })))
  const known = cases().flatMap(({ operations }) => operations.map(({ operation_id }) => operation_id))
  expect(known).toContain(operation.operation_id)
  expect(cases().flatMap(pendingLooks)).toMatchObject([{ lookId: `missing_check/${operation.operation_id}` }])
})

test('the message of an operation that was read with its event lists no record again', async () => {
  const { record, reconcile, stores } = openReconciler()
  await record({ provider_ref: 're_2', amount: 100 })
  await reconcile(eventOf(refundSeen({ id: 're_2', amount: 100 })))
  const listed: string[] = []
  const { saveActions } = stores.projections
  stores.projections.saveActions = (actions, now) => {
    listed.push(...actions.map(({ action }) => action.provider_ref ?? ''))
    return saveActions(actions, now)
  }
  await reconcile([...eventOf(refundSeen()), await record({ provider_ref: 're_1' })])
  expect(listed).toEqual(['re_1'])
})

test('an event that is done makes no case of the operations of its payment', async () => {
  const { record, reconcile, cases, stores } = openReconciler()
  const body = { id: 'evt_1', object: 'event', type: 'refund.created', created: T0 / SECOND, livemode: true }
  const refund = { id: 're_1', object: 'refund', amount: 2499, currency: 'eur', charge: 'ch_1', payment_intent: 'pi_1' }
  const event: WorkItem = {
    kind: 'event',
    event: {
      provider: 'processor',
      project_id: PROJECT,
      connection_id: CONNECTION,
      event_id: 'evt_1',
      event_type: 'refund.created',
      received_at: new Date(T0).toISOString(),
      body: { ...body, data: { object: { ...refund, status: 'succeeded', created: T0 / SECOND } } },
    },
    inboxId: `${CONNECTION}/evt_1`,
    receivedAt: T0,
  }
  await reconcile([event])
  stores.contents.cases.clear()
  await record()
  await reconcile([event])
  expect(cases()).toEqual([])
})

test('a completed operation without an event gets a case after two minutes, which waits to ask the provider', async () => {
  const { record, search, clock, cases, reconcile } = openReconciler()
  await record({ subject: 'pi_2' })
  await reconcile(eventOf(refundSeen()))
  const [seen] = cases()
  await record()
  await record({ subject: 'pi_3', state: 'executing' })
  const searching = search()
  searching.start()
  await clock.advance(MINUTE)
  await clock.advance(59 * SECOND)
  expect(cases()).toEqual([seen])
  await clock.advance(16 * SECOND)
  await searching.stop()
  const made = cases().filter(({ id }) => id !== seen?.id)
  expect(made).toMatchObject([{ refs: [expect.stringContaining('pi_2')], operations: [{ subject: 'pi_2' }] }])
  expect(made.flatMap(pendingLooks)).toMatchObject([
    { kind: 'operation', lookId: expect.stringMatching(/^missing_check/) },
  ])
})

test('an operation whose case cannot be made does not stop the search for others', async () => {
  const { record, search, clock, cases, reconcile } = openReconciler()
  await record({ subject: 'pi_bad' })
  await record({ subject: 'pi_good' })
  const searching = search(async items => {
    const isBad = (item: WorkItem) =>
      item.kind === 'operation' && item.mayCreate === true && item.operation.subject === 'pi_bad'
    if (items.some(isBad)) throw new Error('The case is too large')
    await reconcile(items)
  })
  searching.start()
  await clock.advance(3 * MINUTE)
  await searching.stop()
  expect(cases()).toMatchObject([{ operations: [{ subject: 'pi_good' }] }])
})

test('each operation that was sent to the provider is compared once, also by two processes and after a restart', async () => {
  const { record, search, clock, stores } = openReconciler()
  const compared: string[] = []
  const { knownOperations } = stores.cases
  stores.cases.knownOperations = refs => {
    compared.push(...refs)
    return knownOperations(refs)
  }
  for (let payment = 1; payment <= 501; payment += 1) {
    await record({ subject: `pi_${payment}`, state: payment % 2 === 0 ? 'completed' : 'failed' })
  }
  for (const processes of [[search(), search()], [search()]]) {
    for (const searching of processes) searching.start()
    await clock.advance(3 * MINUTE)
    await Promise.all(processes.map(searching => searching.stop()))
  }
  expect(compared).toHaveLength(501)
  expect(new Set(compared).size).toBe(501)
})
