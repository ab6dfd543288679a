/** Approvals over any store: run by ledger.test.ts (memory) and ledger.integration-test.ts (MongoDB). */
import type { NewOperation, Operation, OperationState } from '@backstop/contracts'
import type { PendingOutbox } from '@backstop/kit/outbox'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { alertsOf, NOW, type OpenTestBooks, openProject, type TestBooks, type TestProject } from './books.ts'

const HOUR = 3_600_000
const minutes = (count: number) => count * 60_000

export function describeApprovals(name: string, open: OpenTestBooks): void {
  describe(`approvals in ${name}`, () => {
    let books: TestBooks
    let project: TestProject
    const announced: PendingOutbox[] = []
    const events = () => alertsOf(announced).map(({ event }) => event)
    const record = async (more: Partial<NewOperation> = {}, now = NOW) =>
      (await books.ledger.record(project.report(more), project.connection, now)).operation
    const decide = async (operation: Operation, to: 'approved' | 'declined', now = NOW) =>
      (await books.ledger.decide(operation.operation_id, { to, approverId: 'key_1', reason: 'Looks right' }, now))
        .operation
    const move = async (operation: Operation, to: OperationState, now = NOW + 1) =>
      (await books.ledger.transition(operation.operation_id, { to }, now)).operation
    /** The store is shared with other tests, so only this operation is counted. */
    const due = async (operation: Operation, now: number) =>
      (await books.ledger.dueApprovals(now, 10_000)).includes(operation.operation_id)

    beforeAll(async () => {
      books = await open({ announce: outbox => void announced.push(outbox) })
    })
    beforeEach(async () => {
      project = openProject()
      await books.requireApproval(project.id, 7200)
      announced.length = 0
    })

    test('a request waits for approval and alerts when its project requires approval', async () => {
      const operation = await record()
      expect(operation).toMatchObject({
        state: 'approval_pending',
        unapproved: null,
        approval: {
          required: true,
          requested_at: new Date(NOW).toISOString(),
          remind_at: new Date(NOW + HOUR).toISOString(),
          deadline_at: new Date(NOW + 2 * HOUR).toISOString(),
          reminded_at: null,
          decided_at: null,
          decided_by: null,
        },
      })
      const { refs: _refs, ...shown } = operation
      expect(alertsOf(announced)).toEqual([
        expect.objectContaining({
          event: 'approval.requested',
          project_id: project.id,
          data: { operation: shown, approval: operation.approval },
        }),
      ])
      expect(await books.ledger.get(operation.operation_id)).toEqual(operation)
    })

    test('a repeated request still waits and alerts no second time', async () => {
      const first = await record({ idempotency_key: 'k' })
      const again = await books.ledger.record(project.report({ idempotency_key: 'k' }), project.connection, NOW + 1)
      expect(again).toEqual({ operation: first, outcome: 'unchanged' })
      expect(events()).toEqual(['approval.requested'])
    })

    test('an operation that a person approved executes without a gap', async () => {
      const operation = await record()
      const approved = await decide(operation, 'approved', NOW + 5)
      expect(approved).toMatchObject({
        state: 'approved',
        version: 2,
        reason: 'Looks right',
        approval: { decided_at: new Date(NOW + 5).toISOString(), decided_by: 'key_1' },
      })
      expect(await decide(operation, 'approved', NOW + 6)).toEqual(approved)
      expect(await move(operation, 'executing', NOW + 10)).toMatchObject({ state: 'executing', unapproved: null })
      expect(await due(operation, NOW + 3 * HOUR)).toBe(false)
    })

    test('one of two contradicting concurrent decisions is refused', async () => {
      const operation = await record()
      const outcomes = await Promise.allSettled([decide(operation, 'approved'), decide(operation, 'declined')])
      const refused = outcomes.filter(outcome => outcome.status === 'rejected')
      expect(refused).toHaveLength(1)
      expect(refused[0]?.reason).toMatchObject({ code: 'illegal_transition' })
    })

    test('no form of report lets the reporter approve an operation that people must approve', async () => {
      const operation = await record({ idempotency_key: 'k' })
      const refusal = { code: 'illegal_transition', details: { reason: 'approval_is_not_yours' } }
      await expect(move(operation, 'approved')).rejects.toMatchObject(refusal)
      await expect(record({ state: 'approved' })).rejects.toMatchObject(refusal)
      await expect(record({ state: 'approved', idempotency_key: 'k' })).rejects.toMatchObject(refusal)
      expect(await books.ledger.get(operation.operation_id)).toEqual(operation)
    })

    test('the reporter may withdraw the request', async () => {
      expect(await move(await record(), 'declined')).toMatchObject({
        state: 'declined',
        approval: { decided_by: null },
      })
    })

    const skipped: {
      name: string
      state: OperationState
      given: OperationState
      gap: string
    }[] = [
      { name: 'directly', state: 'executing', given: 'executing', gap: 'never_asked' },
      { name: 'and completes directly', state: 'completed', given: 'completed', gap: 'never_asked' },
      { name: 'while it waits for approval', state: 'executing', given: 'requested', gap: 'outstanding' },
      { name: 'and completes while it waits for approval', state: 'completed', given: 'requested', gap: 'outstanding' },
      { name: 'after it failed while it waited for approval', state: 'completed', given: 'failed', gap: 'outstanding' },
      { name: 'after it was declined', state: 'executing', given: 'declined', gap: 'declined' },
      { name: 'after it expired', state: 'completed', given: 'expired', gap: 'expired' },
    ]
    test.each(skipped)(
      'an operation that executes $name is recorded and explains nothing',
      async ({ state, given, gap }) => {
        const isOutright = given === state
        let operation = await record(isOutright ? { state } : {})
        if (given === 'declined') operation = await decide(operation, 'declined')
        if (given === 'failed') operation = await move(operation, 'failed')
        if (given === 'expired') await books.ledger.fireTimer(operation.operation_id, NOW + 2 * HOUR)
        if (!isOutright) operation = await move(operation, state, NOW + 3 * HOUR)
        expect(operation).toMatchObject({ state, unapproved: gap, executing_at: expect.any(String) })
        const done = await move(operation, 'completed', NOW + 4 * HOUR)
        expect(done).toMatchObject({ state: 'completed', unapproved: gap })
        await expect(decide(operation, 'approved', NOW + 5 * HOUR)).rejects.toMatchObject({
          code: 'illegal_transition',
        })
      },
    )

    test('a request that fails while it waits for approval was never sent and has no gap', async () => {
      expect(await move(await record(), 'failed')).toMatchObject({
        state: 'failed',
        unapproved: null,
        executing_at: null,
      })
    })

    test('an operation first reported as failed may have been sent, so it has a gap', async () => {
      expect(await record({ state: 'failed' })).toMatchObject({ unapproved: 'never_asked' })
    })

    test('an approved operation that fails was sent and has no gap', async () => {
      const approved = await decide(await record(), 'approved')
      expect(await move(approved, 'failed')).toMatchObject({ unapproved: null, executing_at: expect.any(String) })
    })

    test('an approval that the project does not require has a deadline, and the reporter may approve it', async () => {
      project = openProject()
      const asked = await record({ state: 'approval_pending' })
      expect(asked).toMatchObject({ approval: { required: false } })
      expect(events()).toEqual(['approval.requested'])
      expect(await move(asked, 'approved')).toMatchObject({ state: 'approved' })
      const later = await move(await record(), 'approval_pending', NOW + 7)
      expect(later).toMatchObject({ approval: { required: false, requested_at: new Date(NOW + 7).toISOString() } })
      expect(await move(later, 'executing', NOW + 8)).toMatchObject({ unapproved: null })
      const declined = await decide(await record({ state: 'approval_pending' }), 'declined')
      expect(await move(declined, 'executing')).toMatchObject({ unapproved: 'declined' })
    })

    test('an operation requested before approval was required needs none', async () => {
      project = openProject()
      const operation = await record()
      await books.requireApproval(project.id, 7200)
      expect(await move(operation, 'executing')).toMatchObject({ unapproved: null })
    })

    describe('approval timers', () => {
      const fire = (operation: Operation, now: number) => books.ledger.fireTimer(operation.operation_id, now)

      test('send one reminder after half of the time', async () => {
        const operation = await record()
        expect(await due(operation, NOW + HOUR - 1)).toBe(false)
        expect(await fire(operation, NOW + HOUR - 1)).toBe('nothing_due')
        expect(await due(operation, NOW + HOUR)).toBe(true)
        expect(await fire(operation, NOW + HOUR)).toBe('reminded')
        expect(await fire(operation, NOW + HOUR)).toBe('nothing_due')
        expect(await due(operation, NOW + HOUR)).toBe(false)
        expect(events()).toEqual(['approval.requested', 'approval.reminder'])
        const reminded = await books.ledger.get(operation.operation_id)
        const approval = { reminded_at: new Date(NOW + HOUR).toISOString() }
        // A timer does not know whether the operation executes, so `updated_at` is kept.
        expect(reminded).toMatchObject({ state: 'approval_pending', approval, updated_at: operation.updated_at })
      })

      test('record the expiry once at the deadline, without a late reminder', async () => {
        const operation = await record()
        expect(await fire(operation, NOW + 2 * HOUR)).toBe('expired')
        expect(await fire(operation, NOW + 2 * HOUR)).toBe('nothing_due')
        expect(events()).toEqual(['approval.requested', 'approval.expired'])
        expect(await books.ledger.get(operation.operation_id)).toMatchObject({
          state: 'expired',
          ended_at: new Date(NOW + 2 * HOUR).toISOString(),
          approval: { decided_by: null },
        })
        expect(await due(operation, NOW + 3 * HOUR)).toBe(false)
      })

      test('the deadline holds also before a timer records the expiry', async () => {
        const operation = await record()
        const late = decide(operation, 'approved', NOW + 2 * HOUR)
        await expect(late).rejects.toMatchObject({
          code: 'illegal_transition',
          refusal: { reason: 'deadline_passed', operation: { approval: { deadline_at: '2026-11-21T12:00:00.000Z' } } },
        })
        expect(await decide(operation, 'approved', NOW + 2 * HOUR - 1)).toMatchObject({ state: 'approved' })
      })

      test('fire once if ten run concurrently', async () => {
        const operation = await record()
        for (const [at, wanted] of [
          [NOW + HOUR, 'reminded'],
          [NOW + 2 * HOUR, 'expired'],
        ] as const) {
          const outcomes = await Promise.all(Array.from({ length: 10 }, () => fire(operation, at)))
          expect(outcomes.filter(outcome => outcome !== 'nothing_due')).toEqual([wanted])
        }
        expect(events()).toEqual(['approval.requested', 'approval.reminder', 'approval.expired'])
      })

      test('and a concurrent decision have one winner', async () => {
        const operation = await record()
        const [decided, fired] = await Promise.allSettled([
          decide(operation, 'approved', NOW + 2 * HOUR - 1),
          fire(operation, NOW + 2 * HOUR),
        ])
        const { state } = (await books.ledger.get(operation.operation_id))!
        const isApproved = decided.status === 'fulfilled'
        expect(state).toBe(isApproved ? 'approved' : 'expired')
        expect(fired).toMatchObject({ value: isApproved ? 'nothing_due' : 'expired' })
      })

      test('are listed by due time, up to the limit', async () => {
        const [later, sooner] = [await record({}, NOW - minutes(1)), await record({}, NOW - minutes(2))]
        const found = await books.ledger.dueApprovals(NOW + HOUR, 10_000)
        const mine = found.filter(id => [later.operation_id, sooner.operation_id].includes(id))
        expect(mine).toEqual([sooner.operation_id, later.operation_id])
        expect(await books.ledger.dueApprovals(NOW + HOUR, 1)).toHaveLength(1)
      })
    })
  })
}
