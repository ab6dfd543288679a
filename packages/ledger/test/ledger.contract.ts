/** Operations over any store: run by ledger.test.ts (memory) and ledger.integration-test.ts (MongoDB). */
import { type AuditDocument, type NewOperation, newId, type Operation } from '@backstop/contracts'
import { createLogger } from '@backstop/kit/logger'
import type { OutboxSource, PendingOutbox } from '@backstop/kit/outbox'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Ledger } from '../src/ledger.ts'
import { createRowMover, isAuditEntry, type PendingRows } from '../src/publish/audit-rows.ts'
import type { OperationConnection } from '../src/rules/operation.ts'
import { NOW, type OpenTestBooks } from './books.ts'

export function describeLedger(name: string, open: OpenTestBooks): void {
  describe(`the ledger in ${name}`, () => {
    let ledger: Ledger
    let outboxSource: OutboxSource
    let pendingRows: PendingRows
    const announced: PendingOutbox[] = []
    /** Called between a write and its announcement. */
    let onAnnounce = () => {}
    // Each test has its own connections and project, so the suite needs no empty database.
    let connection: OperationConnection
    let project: string
    const report = (more: Partial<NewOperation> = {}): NewOperation => ({
      connection_id: connection._id,
      kind: 'refund',
      subject: 'pi_1',
      amount: 1200,
      currency: 'eur',
      state: 'requested',
      ...more,
    })
    const record = async (more: Partial<NewOperation> = {}, now = NOW) =>
      (await ledger.record(report(more), connection, now)).operation
    const ids = (operations: Operation[]) => operations.map(operation => operation.operation_id)

    beforeAll(async () => {
      const made = await open({
        announce: outbox => {
          onAnnounce()
          announced.push(outbox)
        },
      })
      ledger = made.ledger
      outboxSource = made.outboxSource
      pendingRows = made.pendingRows
    })
    beforeEach(() => {
      project = newId('project')
      connection = { _id: newId('connection'), project_id: project, kind: 'processor', site: null }
      announced.length = 0
      onAnnounce = () => {}
    })

    test('returns the recorded operation', async () => {
      const { operation, outcome } = await ledger.record(report({ idempotency_key: 'k' }), connection, NOW)
      expect(outcome).toBe('created')
      expect(operation).toMatchObject({ project_id: project, state: 'requested', version: 1, idempotency_key: 'k' })
      expect(await ledger.get(operation.operation_id)).toEqual(operation)
      expect(await ledger.get('op_none')).toBeUndefined()
    })

    test('a report is found by an idempotency key that MongoDB stores in another form', async () => {
      const first = await ledger.record(report({ idempotency_key: 'order \ud800' }), connection, NOW)
      const repeat = await ledger.record(report({ idempotency_key: 'order \ud800' }), connection, NOW)
      expect(repeat).toMatchObject({ outcome: 'unchanged', operation: { operation_id: first.operation.operation_id } })
    })

    test('announces each version under its own id, keyed by project and subject', async () => {
      const operation = await record()
      const { operation: moved, before } = await ledger.transition(operation.operation_id, { to: 'executing' }, NOW + 1)
      expect(before).toEqual(operation)
      expect(announced.map(({ entries }) => entries)).toEqual([
        [
          expect.objectContaining({
            id: `${operation.operation_id}:1`,
            topic: 'operations',
            key: `${project}/pi_1`,
            message: operation,
          }),
        ],
        [expect.objectContaining({ id: `${operation.operation_id}:2`, topic: 'operations', message: moved })],
      ])
    })

    test('keeps a message in the outbox until it is published', async () => {
      const operation = await record()
      const mine = async (writtenBefore: number) =>
        (await outboxSource.pending(writtenBefore, 10_000)).filter(item => item.documentId === operation.operation_id)
      expect(await mine(NOW)).toEqual([])
      const [pending] = await mine(NOW + 1)
      expect(pending?.entries.map(entry => entry.id)).toEqual([`${operation.operation_id}:1`])
      expect(pending?.entries[0]?.message).toEqual(operation)
      const published = [{ documentId: operation.operation_id, entryIds: [`${operation.operation_id}:1`] }]
      await outboxSource.published(published)
      expect(await mine(NOW + 1)).toEqual([])
      // Unknown entries are accepted, because two sweepers may have published the same entry.
      await outboxSource.published([...published, { documentId: 'op_none', entryIds: ['x'] }])
    })

    test('an entry written while another one is removed is still swept', async () => {
      const operation = await record()
      const id = operation.operation_id
      await ledger.transition(id, { to: 'executing' }, NOW + 5)
      await outboxSource.published([{ documentId: id, entryIds: [`${id}:1`] }])
      const left = (await outboxSource.pending(NOW + 1_000, 10_000)).find(item => item.documentId === id)
      expect(left?.entries.map(entry => entry.id)).toEqual([`${id}:2`])
      await outboxSource.published([{ documentId: id, entryIds: [`${id}:2`] }])
      await ledger.transition(id, { to: 'completed' }, NOW + 10)
      const again = (await outboxSource.pending(NOW + 1_000, 10_000)).find(item => item.documentId === id)
      expect(again?.entries.map(entry => entry.id)).toEqual([`${id}:3`])
    })

    test('entries are removed from each document, whether others stay in it or not', async () => {
      const [one, other] = [await record(), await record()].map(({ operation_id }) => operation_id)
      await ledger.transition(other!, { to: 'executing' }, NOW + 5)
      await outboxSource.published([one!, other!].map(id => ({ documentId: id, entryIds: [`${id}:1`] })))
      const left = (await outboxSource.pending(NOW + 1_000, 10_000)).filter(item =>
        [one, other].includes(item.documentId),
      )
      expect(left.map(({ entries }) => entries.map(({ id }) => id))).toEqual([[`${other}:2`]])
    })

    describe('audit rows', () => {
      const rowOf = (operation: Operation, before: Operation | undefined): AuditDocument => ({
        _id: `aud_${operation.operation_id}_${operation.version}`,
        at: new Date(NOW),
        key_id: 'key_1',
        action: before === undefined ? 'operation.create' : 'operation.transition',
        target: operation.operation_id,
        project_id: project,
        request_id: 'req_1',
        address: null,
      })
      const waitingFor = async (id: string) =>
        (await pendingRows.pending(NOW + 1_000, 10_000)).filter(({ documentId }) => documentId === id)
      const actionsIn = (outboxes: readonly PendingOutbox[]) =>
        outboxes.flatMap(({ entries }) => entries.map(({ message }) => (message as AuditDocument).action))

      test('wait in the outbox of their operation until they are in the audit, also while its messages are published', async () => {
        const { operation } = await ledger.record(report(), connection, NOW, { makeAuditRow: rowOf })
        const id = operation.operation_id
        await ledger.transition(id, { to: 'executing' }, NOW + 1, rowOf)
        const [waiting] = await waitingFor(id)
        expect(actionsIn([waiting!])).toEqual(['operation.create', 'operation.transition'])
        expect(announced.flatMap(({ entries }) => entries.filter(isAuditEntry))).toEqual(waiting!.entries)

        // The service that publishes messages may have no right to write the audit.
        const messages = (await outboxSource.pending(NOW + 1_000, 10_000)).find(({ documentId }) => documentId === id)
        expect(messages?.entries.map(entry => entry.id)).toEqual([`${id}:1`, `${id}:2`])
        await outboxSource.published([{ documentId: id, entryIds: [`${id}:1`, `${id}:2`] }])
        expect((await outboxSource.pending(NOW + 1_000, 10_000)).filter(({ documentId }) => documentId === id)).toEqual(
          [],
        )

        const inserted: string[] = []
        const insert = async (rows: readonly AuditDocument[]) => void inserted.push(...rows.map(({ action }) => action))
        const mover = createRowMover(insert, outboxSource, createLogger('test', 'silent'))
        await mover.publish([{ documentId: id, entries: waiting!.entries.slice(0, 1) }])
        expect(actionsIn(await waitingFor(id))).toEqual(['operation.transition'])
        // Two processes may move the same row.
        await mover.publish([waiting!])
        expect(await waitingFor(id)).toEqual([])
        expect(inserted).toEqual(['operation.create', 'operation.create', 'operation.transition'])
      })

      test('of a repeat and of a refused change do not exist', async () => {
        const { operation } = await ledger.record(report({ idempotency_key: 'k' }), connection, NOW, {
          makeAuditRow: rowOf,
        })
        await ledger.record(report({ idempotency_key: 'k' }), connection, NOW, { makeAuditRow: rowOf })
        await ledger.transition(operation.operation_id, { to: 'requested' }, NOW, rowOf)
        await expect(ledger.transition(operation.operation_id, { to: 'expired' }, NOW, rowOf)).rejects.toThrow()
        expect(actionsIn(await waitingFor(operation.operation_id))).toEqual(['operation.create'])
      })
    })

    test('the same idempotency key on the same connection returns the same operation and announces nothing', async () => {
      const first = await record({ idempotency_key: 'k' })
      await ledger.transition(first.operation_id, { to: 'executing' }, NOW + 1)
      announced.length = 0
      const repeat = await ledger.record(report({ idempotency_key: 'k' }), connection, NOW + 2)
      expect(repeat).toMatchObject({
        outcome: 'unchanged',
        operation: { operation_id: first.operation_id, state: 'executing' },
      })
      expect(announced).toEqual([])
    })

    test('the same idempotency key for another operation is refused with the field that differs', async () => {
      await record({ idempotency_key: 'k' })
      const other = ledger.record(report({ idempotency_key: 'k', amount: 1 }), connection, NOW)
      await expect(other).rejects.toMatchObject({
        code: 'idempotency_conflict',
        refusal: { kind: 'report_differs', field: 'amount' },
      })
    })

    test('the same idempotency key on two connections is two operations', async () => {
      const first = await record({ idempotency_key: 'k' })
      const other = { ...connection, _id: newId('connection') }
      const { operation, outcome } = await ledger.record(report({ idempotency_key: 'k' }), other, NOW)
      expect(outcome).toBe('created')
      expect(operation.operation_id).not.toBe(first.operation_id)
    })

    test('twenty concurrent reports under one key create one operation', async () => {
      const reports = Array.from({ length: 20 }, () => ledger.record(report({ idempotency_key: 'k' }), connection, NOW))
      const outcomes = await Promise.all(reports)
      expect(new Set(outcomes.map(({ operation }) => operation.operation_id)).size).toBe(1)
      expect(outcomes.filter(({ outcome }) => outcome === 'created')).toHaveLength(1)
      expect(await ledger.list({ projectId: project, limit: 10 })).toHaveLength(1)
    })

    test('a repeat with the same operation id is stored once and returned as created', async () => {
      for (const key of [{}, { idempotency_key: 'k' }]) {
        const operationId = newId('operation')
        expect(await ledger.record(report(key), connection, NOW, { operationId })).toMatchObject({ outcome: 'created' })
        const repeat = await ledger.record(report(key), connection, NOW + 1, { operationId })
        expect(repeat).toMatchObject({
          outcome: 'created',
          operation: { operation_id: operationId, version: 1, created_at: '2026-11-21T10:00:00.000Z' },
        })
      }
    })

    test('a report of a later state under a known key moves the operation there', async () => {
      const first = await record({ idempotency_key: 'k', state: 'executing' })
      const ended = { state: 'completed', provider_ref: 're_1', ended_at: '2026-11-21T10:00:03Z' } as const
      const further = await ledger.record(report({ idempotency_key: 'k', ...ended }), connection, NOW + 5_000)
      expect(further).toMatchObject({
        outcome: 'moved',
        operation: {
          operation_id: first.operation_id,
          version: 2,
          state: 'completed',
          provider_ref: 're_1',
          executing_at: '2026-11-21T10:00:00.000Z',
          ended_at: '2026-11-21T10:00:03.000Z',
        },
      })
      expect(announced).toHaveLength(2)
      const again = await ledger.record(report({ idempotency_key: 'k', ...ended }), connection, NOW + 6_000)
      expect(again).toEqual({ outcome: 'unchanged', operation: further.operation })
      const late = await ledger.record(report({ idempotency_key: 'k', state: 'executing' }), connection, NOW + 7_000)
      expect(late).toEqual({ outcome: 'unchanged', operation: further.operation })
    })

    test('a repeated call that succeeds after it was reported as failed completes the operation, in any order of the reports', async () => {
      const called = { idempotency_key: 'k', executing_at: '2026-11-21T10:00:00Z' }
      const failed = report({ ...called, state: 'failed', ended_at: '2026-11-21T10:00:30Z', reason: 'timeout' })
      const repeated = { idempotency_key: 'k', executing_at: '2026-11-21T10:02:00Z' }
      const completed = report({
        ...repeated,
        state: 'completed',
        ended_at: '2026-11-21T10:02:01Z',
        provider_ref: 're_1',
      })
      await ledger.record(failed, connection, NOW + 30_000)
      const late = await ledger.record(completed, connection, NOW + 121_000)
      const provided = {
        outcome: 'moved',
        operation: {
          state: 'completed',
          provider_ref: 're_1',
          reason: null,
          // The failed call may have made the refund, so the operation began with it.
          executing_at: '2026-11-21T10:00:00.000Z',
          ended_at: '2026-11-21T10:02:01.000Z',
        },
      }
      expect(late).toMatchObject(provided)
      expect(await ledger.record(completed, connection, NOW + 122_000)).toMatchObject({ outcome: 'unchanged' })
      const { executing_at: _began, ended_at: _ended, ...withoutTimes } = failed
      expect(await ledger.record(withoutTimes, connection, NOW + 123_000)).toEqual({ ...late, outcome: 'unchanged' })
    })

    test('ten concurrent reports of a later state move it once', async () => {
      await record({ idempotency_key: 'k', state: 'executing' })
      const reports = Array.from({ length: 10 }, () =>
        ledger.record(report({ idempotency_key: 'k', state: 'completed' }), connection, NOW + 1),
      )
      for (const { operation } of await Promise.all(reports)) {
        expect(operation).toMatchObject({ state: 'completed', version: 2 })
      }
    })

    test('operations without a key never conflict', async () => {
      await record()
      await record()
      expect(await ledger.list({ projectId: project, limit: 10 })).toHaveLength(2)
    })

    test('one of two contradicting concurrent transitions is refused', async () => {
      const { operation_id: id } = await record({ state: 'executing' })
      const outcomes = await Promise.allSettled([
        ledger.transition(id, { to: 'completed' }, NOW + 1),
        ledger.transition(id, { to: 'rejected' }, NOW + 1),
      ])
      const refused = outcomes.filter(outcome => outcome.status === 'rejected')
      expect(refused).toHaveLength(1)
      expect(refused[0]?.reason).toMatchObject({ code: 'illegal_transition', details: { reason: 'already_ended' } })
      expect(await ledger.get(id)).toMatchObject({ version: 2 })
    })

    test('a transition starts from the stored operation if another process has changed it', async () => {
      const { ledger: other } = await open({ announce: () => {} })
      const { operation_id: id } = await record()
      await other.transition(id, { to: 'executing' }, NOW + 1)
      const moved = await ledger.transition(id, { to: 'completed' }, NOW + 2)
      expect(moved.before).toMatchObject({ state: 'executing', version: 2 })
      expect(moved.operation).toMatchObject({ state: 'completed', version: 3, executing_at: expect.any(String) })
      // The other process remembers version 2.
      const repeated = await other.transition(id, { to: 'completed' }, NOW + 3)
      expect(repeated.operation).toEqual(moved.operation)
      expect(repeated.operation).toBe(repeated.before)
    })

    test.each([
      { report: 'repeats', to: 'executing' },
      { report: 'contradicts', to: 'requested' },
    ] as const)(
      'a report that $report what a process remembers is compared with the stored operation',
      async ({ to }) => {
        const { ledger: other } = await open({ announce: () => {} })
        const { operation_id: id } = await record()
        await other.transition(id, { to: 'executing' }, NOW + 1)
        await ledger.transition(id, { to: 'completed' }, NOW + 2)
        await expect(other.transition(id, { to }, NOW + 3)).rejects.toMatchObject({
          code: 'illegal_transition',
          refusal: { operation: { state: 'completed', version: 3 } },
        })
      },
    )

    test('ten identical concurrent transitions move it once', async () => {
      const { operation_id: id } = await record()
      announced.length = 0
      const moves = Array.from({ length: 10 }, () => ledger.transition(id, { to: 'executing' }, NOW + 1))
      for (const { operation } of await Promise.all(moves))
        expect(operation).toMatchObject({ state: 'executing', version: 2 })
      const repeated = await ledger.transition(id, { to: 'executing' }, NOW + 2)
      expect(repeated.operation).toBe(repeated.before)
      expect(announced).toHaveLength(1)
    })

    test('refuses an illegal transition, an unknown operation and another provider_ref, each with its code', async () => {
      const { operation_id: id } = await record({ state: 'completed', provider_ref: 're_1' })
      await expect(ledger.transition(id, { to: 'executing' }, NOW)).rejects.toMatchObject({
        code: 'illegal_transition',
        refusal: { kind: 'transition', operation: { state: 'completed' }, to: 'executing', reason: 'would_go_back' },
      })
      const other = ledger.transition(id, { to: 'completed', provider_ref: 're_2' }, NOW)
      await expect(other).rejects.toMatchObject({ code: 'conflict' })
      await expect(ledger.transition('op_none', { to: 'failed' }, NOW)).rejects.toMatchObject({ code: 'not_found' })
      const early = ledger.record(report({ ended_at: '2026-01-01T00:00:00Z' }), connection, NOW)
      await expect(early).rejects.toMatchObject({
        code: 'invalid_request',
        refusal: { kind: 'time', field: 'ended_at', reason: 'state_has_not_ended' },
      })
    })

    test.each(['executing', 'awaiting_review', 'completed', 'failed', 'rejected'] as const)(
      'a connection has executed once an operation is reported as %s',
      async state => {
        expect(await ledger.hasExecuted([connection._id])).toEqual(new Set())
        await record({ state })
        await record({ state })
        expect(await ledger.hasExecuted([connection._id, 'con_none'])).toEqual(new Set([connection._id]))
      },
    )

    test.each(['requested', 'approval_pending', 'approved', 'declined', 'expired'] as const)(
      'a connection has not executed while its operation is %s',
      async state => {
        await record({ state })
        expect(await ledger.hasExecuted([connection._id])).toEqual(new Set())
      },
    )

    test('the connection counts as executed before the operation is announced', async () => {
      const { operation_id: id } = await record()
      let seen: Promise<ReadonlySet<string>> | undefined
      onAnnounce = () => {
        seen = ledger.hasExecuted([connection._id])
      }
      await ledger.transition(id, { to: 'executing' }, NOW + 1)
      expect(await seen).toEqual(new Set([connection._id]))
    })

    test('a refused transition does not make the connection count as executed', async () => {
      const { operation_id: id } = await record({ state: 'declined' })
      await expect(ledger.transition(id, { to: 'approved' }, NOW)).rejects.toMatchObject({
        code: 'illegal_transition',
      })
      expect(await ledger.hasExecuted([connection._id])).toEqual(new Set())
    })

    test('operations are found by any of their references, and in no other project', async () => {
      const bySubject = await record({ subject: 'pi_7' })
      const byRef = await record({ subject: 'pi_8', state: 'completed', provider_ref: 're_8' })
      const byKey = await record({ subject: 'pi_9', idempotency_key: 'key 9' })
      await record({ subject: 'pi_10' })
      const foreign = { ...connection, _id: newId('connection'), project_id: newId('project') }
      await ledger.record(report({ subject: 'pi_7' }), foreign, NOW)
      const found = await ledger.byReferences([
        `${project}/processor/pi_7`,
        `${project}/processor/re_8`,
        `${project}/processor/idempotency_key/key 9`,
        `${project}/processor/unknown`,
      ])
      expect(ids(found).toSorted()).toEqual(ids([bySubject, byRef, byKey]).toSorted())
      expect(await ledger.byReferences([])).toEqual([])
    })

    test('finds operations that were sent to the provider in the order of their last change, page by page, also of the same millisecond', async () => {
      const start = { updated_at: new Date(NOW).toISOString(), operation_id: '' }
      const made: Operation[] = []
      const states = ['completed', 'executing', 'failed', 'awaiting_review'] as const
      for (const [i, state] of states.entries()) made.push(await record({ state }, NOW + Math.floor(i / 2)))
      await record({ state: 'requested' })
      const { operation_id } = await record({ state: 'executing' })
      const { operation: late } = await ledger.transition(operation_id, { to: 'completed' }, NOW + 5)
      const own = (found: readonly Operation[]) => found.filter(({ project_id }) => project_id === project)
      const paged: Operation[] = []
      for (let page = await ledger.changedAfter(start, NOW + 6, 2); page.length > 0; ) {
        paged.push(...page)
        page = await ledger.changedAfter(page.at(-1) ?? start, NOW + 6, 2)
      }
      const ordered = made.toSorted((a, b) =>
        `${a.updated_at}${a.operation_id}` < `${b.updated_at}${b.operation_id}` ? -1 : 1,
      )
      expect(ids(own(paged))).toEqual(ids([...ordered, late]))
      expect(ids(own(await ledger.changedAfter(start, NOW + 5, 100)))).toEqual(ids(ordered))
    })

    test('lists newest first, page by page, also operations of the same millisecond', async () => {
      for (let i = 0; i < 5; i++) await record({}, NOW + Math.floor(i / 3))
      const all = await ledger.list({ projectId: project, limit: 10 })
      expect(all).toHaveLength(5)
      expect(
        all
          .map(({ created_at }) => created_at)
          .toSorted()
          .toReversed(),
      ).toEqual(all.map(item => item.created_at))
      const paged: Operation[] = []
      for (let page = await ledger.list({ projectId: project, limit: 2 }); page.length > 0; ) {
        paged.push(...page)
        const last = paged.at(-1) as Operation
        const after = { createdAt: last.created_at, operationId: last.operation_id }
        page = await ledger.list({ projectId: project, limit: 2, after })
      }
      expect(ids(paged)).toEqual(ids(all))
    })

    test('lists by connection, state and subject', async () => {
      const wanted = await record({ subject: 'pi_7', state: 'executing' })
      await record({ subject: 'pi_7' })
      await record({ subject: 'pi_8', state: 'executing' })
      const filter = { connectionId: connection._id, state: 'executing', subject: 'pi_7', limit: 10 } as const
      expect(ids(await ledger.list(filter))).toEqual([wanted.operation_id])
    })
  })
}
