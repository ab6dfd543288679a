import type { NewOperation, NewTransition, Operation } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { applyTransition, recordOperation } from './operation.ts'

const NOW = Date.parse('2026-11-21T10:00:00.000Z')
const minutes = (count: number) => count * 60_000
const at = (ms: number) => new Date(ms).toISOString()
const NO_APPROVAL = { required: false, deadlineMs: minutes(60) }
const REPORTED = { mover: { kind: 'reporter' }, policy: NO_APPROVAL } as const
const connection = { _id: 'con_1', project_id: 'prj_1', kind: 'processor', site: null } as const
const report = (more: Partial<NewOperation> = {}): NewOperation => ({
  connection_id: 'con_1',
  kind: 'refund',
  subject: 'pi_1',
  amount: 1200,
  currency: 'eur',
  state: 'requested',
  ...more,
})
const recorded = (more: Partial<NewOperation> = {}, now = NOW): Operation => {
  const outcome = recordOperation('op_1', report(more), connection, NO_APPROVAL, now)
  if (outcome.kind !== 'recorded') throw new Error(`refused: ${outcome.reason}`)
  return outcome.operation
}
const times = ({ executing_at, ended_at }: Operation) => [executing_at, ended_at]

describe('the times of a newly reported operation', () => {
  const rows: { name: string; given: Partial<NewOperation>; wanted: (string | null)[] }[] = [
    { name: 'requested has neither time', given: { state: 'requested' }, wanted: [null, null] },
    { name: 'approval_pending has neither time', given: { state: 'approval_pending' }, wanted: [null, null] },
    { name: 'declined has ended and never executed', given: { state: 'declined' }, wanted: [null, at(NOW)] },
    { name: 'executing began now', given: { state: 'executing' }, wanted: [at(NOW), null] },
    {
      name: 'executing began when the report says',
      given: { state: 'executing', executing_at: at(NOW - minutes(5)) },
      wanted: [at(NOW - minutes(5)), null],
    },
    { name: 'awaiting_review began now', given: { state: 'awaiting_review' }, wanted: [at(NOW), null] },
    { name: 'completed outright began and ended now', given: { state: 'completed' }, wanted: [at(NOW), at(NOW)] },
    { name: 'failed outright was sent, and may have worked', given: { state: 'failed' }, wanted: [at(NOW), at(NOW)] },
    {
      name: 'failed at a time at which it executed was sent then',
      given: { state: 'failed', executing_at: at(NOW - minutes(1)) },
      wanted: [at(NOW - minutes(1)), at(NOW)],
    },
    {
      name: 'completed with both times keeps them',
      given: { state: 'completed', executing_at: at(NOW - minutes(9)), ended_at: at(NOW - minutes(8)) },
      wanted: [at(NOW - minutes(9)), at(NOW - minutes(8))],
    },
    {
      name: 'completed with its end only began no later than that',
      given: { state: 'completed', ended_at: at(NOW - minutes(8)) },
      wanted: [at(NOW - minutes(8)), at(NOW - minutes(8))],
    },
    {
      name: 'completed with its beginning only ended now',
      given: { state: 'completed', executing_at: at(NOW - minutes(9)) },
      wanted: [at(NOW - minutes(9)), at(NOW)],
    },
    {
      name: 'a time with an offset is kept in UTC',
      given: { state: 'executing', executing_at: '2026-11-21T11:59:00+02:00' },
      wanted: ['2026-11-21T09:59:00.000Z', null],
    },
    {
      name: "a reporter's clock may be a little ahead",
      given: { state: 'completed', executing_at: at(NOW + minutes(4)) },
      wanted: [at(NOW + minutes(4)), at(NOW + minutes(4))],
    },
  ]
  test.each(rows)('$name', ({ given, wanted }) => {
    expect(times(recorded(given))).toEqual(wanted)
  })

  const refused: { name: string; given: Partial<NewOperation>; field: string; reason: string }[] = [
    {
      name: 'executing_at of an operation that is only requested',
      given: { state: 'requested', executing_at: at(NOW) },
      field: 'executing_at',
      reason: 'state_has_not_executed',
    },
    {
      name: 'executing_at of a declined operation',
      given: { state: 'declined', executing_at: at(NOW) },
      field: 'executing_at',
      reason: 'state_has_not_executed',
    },
    {
      name: 'ended_at of an operation that is still executing',
      given: { state: 'executing', ended_at: at(NOW) },
      field: 'ended_at',
      reason: 'state_has_not_ended',
    },
    {
      name: 'an end before the beginning',
      given: { state: 'completed', executing_at: at(NOW), ended_at: at(NOW - 1) },
      field: 'ended_at',
      reason: 'ends_before_it_began',
    },
    {
      name: 'a beginning far in the future',
      given: { state: 'executing', executing_at: at(NOW + minutes(6)) },
      field: 'executing_at',
      reason: 'lies_in_the_future',
    },
    {
      name: 'an end far in the future, which would explain refunds until then',
      given: { state: 'completed', ended_at: '2099-01-01T00:00:00Z' },
      field: 'ended_at',
      reason: 'lies_in_the_future',
    },
  ]
  test.each(refused)('refuses $name', ({ given, field, reason }) => {
    expect(recordOperation('op_1', report(given), connection, NO_APPROVAL, NOW)).toEqual({
      kind: 'bad_time',
      field,
      reason,
    })
  })
})

describe('the references of a newly reported operation', () => {
  test('are its subject, its provider_ref and, for the processor, its idempotency key', () => {
    expect(recorded({ provider_ref: 're_1', idempotency_key: 'k 1' }).refs).toEqual([
      'prj_1/processor/pi_1',
      'prj_1/processor/re_1',
      'prj_1/processor/idempotency_key/k 1',
    ])
  })

  test("omit the idempotency key if the provider's events do not repeat it", () => {
    const reseller = { ...connection, kind: 'reseller' } as const
    const outcome = recordOperation('op_1', report({ idempotency_key: 'k' }), reseller, NO_APPROVAL, NOW)
    expect(outcome).toMatchObject({ operation: { refs: ['prj_1/reseller/pi_1'] } })
  })

  test('include the site if ids are unique in a site only', () => {
    const subscription = { ...connection, kind: 'subscription', site: 'acme' } as const
    const outcome = recordOperation('op_1', report({ provider_ref: 'cn_1' }), subscription, NO_APPROVAL, NOW)
    expect(outcome).toMatchObject({
      operation: { refs: ['prj_1/subscription/acme/pi_1', 'prj_1/subscription/acme/cn_1'] },
    })
  })
})

describe('a reported transition', () => {
  const LATER = NOW + minutes(10)
  const move = (operation: Operation, transition: NewTransition, now = LATER) => {
    const outcome = applyTransition(operation, transition, REPORTED, now)
    if (outcome.kind === 'refused' || outcome.kind === 'bad_time') throw new Error(`refused: ${outcome.reason}`)
    return outcome.operation
  }

  test('raises the version and the time of change', () => {
    expect(move(recorded(), { to: 'executing' })).toMatchObject({
      version: 2,
      state: 'executing',
      created_at: at(NOW),
      updated_at: at(LATER),
    })
  })

  const rows: { name: string; from: Operation; to: Operation['state']; wanted: (string | null)[] }[] = [
    { name: 'executing begins now', from: recorded(), to: 'executing', wanted: [at(LATER), null] },
    { name: 'approval changes neither time', from: recorded(), to: 'approval_pending', wanted: [null, null] },
    {
      name: 'completed without executing began when it was last known not to',
      from: recorded(),
      to: 'completed',
      wanted: [at(NOW), at(LATER)],
    },
    {
      name: 'completed keeps when executing began',
      from: recorded({ state: 'executing' }),
      to: 'completed',
      wanted: [at(NOW), at(LATER)],
    },
    {
      name: 'awaiting_review keeps when executing began and has not ended',
      from: recorded({ state: 'executing' }),
      to: 'awaiting_review',
      wanted: [at(NOW), null],
    },
    {
      name: 'failed without executing was sent, e.g. to a provider that never answered',
      from: recorded(),
      to: 'failed',
      wanted: [at(NOW), at(LATER)],
    },
    {
      name: 'failed after it was approved was sent',
      from: recorded({ state: 'approved' }),
      to: 'failed',
      wanted: [at(NOW), at(LATER)],
    },
    {
      name: 'failed while it waits for approval was never sent',
      from: recorded({ state: 'approval_pending' }),
      to: 'failed',
      wanted: [null, at(LATER)],
    },
    {
      name: 'declined ends without having executed',
      from: recorded({ state: 'approval_pending' }),
      to: 'declined',
      wanted: [null, at(LATER)],
    },
  ]
  test.each(rows)('$name', ({ from, to, wanted }) => {
    expect(times(move(from, { to }))).toEqual(wanted)
  })

  const timed: { name: string; from: Operation; transition: NewTransition; wanted: (string | null)[] }[] = [
    {
      name: 'keeps the times that it brings',
      from: recorded(),
      transition: { to: 'completed', executing_at: at(NOW + minutes(1)), ended_at: at(NOW + minutes(2)) },
      wanted: [at(NOW + minutes(1)), at(NOW + minutes(2))],
    },
    {
      name: 'corrects when executing began: the known time was only when the report arrived',
      from: recorded({ state: 'executing' }),
      transition: { to: 'completed', executing_at: at(NOW - minutes(1)) },
      wanted: [at(NOW - minutes(1)), at(LATER)],
    },
    {
      name: 'that ended before its beginning was reported began no later than its end',
      from: recorded({ state: 'executing' }),
      transition: { to: 'completed', ended_at: at(NOW - 300) },
      wanted: [at(NOW - 300), at(NOW - 300)],
    },
    {
      name: "ends no earlier than it began, even if the reporter's clock is ahead",
      from: recorded({ state: 'executing', executing_at: at(LATER + minutes(4)) }, LATER),
      transition: { to: 'completed' },
      wanted: [at(LATER + minutes(4)), at(LATER + minutes(4))],
    },
  ]
  test.each(timed)('$name', ({ from, transition, wanted }) => {
    expect(times(move(from, transition))).toEqual(wanted)
  })

  test('is refused with the name of the field when a time contradicts it', () => {
    const early = { to: 'executing', ended_at: at(NOW) } as const
    expect(applyTransition(recorded(), early, REPORTED, LATER)).toEqual({
      kind: 'bad_time',
      field: 'ended_at',
      reason: 'state_has_not_ended',
    })
    const far = { to: 'completed', ended_at: at(LATER + minutes(6)) } as const
    expect(applyTransition(recorded(), far, REPORTED, LATER)).toMatchObject({
      kind: 'bad_time',
      reason: 'lies_in_the_future',
    })
  })

  test('adds the provider_ref and its reference when they become known', () => {
    const subscription = { ...connection, kind: 'subscription', site: 'acme' } as const
    const first = recordOperation('op_1', report(), subscription, NO_APPROVAL, NOW)
    if (first.kind !== 'recorded') throw new Error(first.reason)
    const moved = move(first.operation, { to: 'completed', provider_ref: 'cn_7' })
    expect(moved.provider_ref).toBe('cn_7')
    expect(moved.refs).toEqual(['prj_1/subscription/acme/pi_1', 'prj_1/subscription/acme/cn_7'])
  })

  test('keeps the previous reason when it has none', () => {
    expect(move(recorded({ reason: 'agent 7' }), { to: 'executing' }).reason).toBe('agent 7')
    expect(move(recorded({ reason: 'agent 7' }), { to: 'failed', reason: 'card expired' }).reason).toBe('card expired')
  })

  test('changes nothing when it repeats the present state', () => {
    const operation = recorded({ state: 'completed', provider_ref: 're_1' })
    const repeat = { to: 'completed', provider_ref: 're_1' } as const
    expect(applyTransition(operation, repeat, REPORTED, LATER)).toEqual({ kind: 'unchanged', operation })
  })

  test('adds an unknown provider_ref and changes no time when it repeats the present state', () => {
    const operation = recorded({ state: 'completed' })
    const moved = move(operation, { to: 'completed', provider_ref: 're_1' })
    expect(moved).toMatchObject({ version: 2, provider_ref: 're_1', executing_at: at(NOW), ended_at: at(NOW) })
  })

  test('adds the id of the request, which a later request of the same call replaces', () => {
    const failed = recorded({ state: 'failed', provider_request_id: 'req_1' })
    expect(failed.provider_request_id).toBe('req_1')
    const completed = move(failed, { to: 'completed', provider_request_id: 'req_2' })
    expect(completed.provider_request_id).toBe('req_2')
    expect(move(completed, { to: 'completed' })).toBe(completed)
    expect(move(recorded({ state: 'failed' }), { to: 'failed', provider_request_id: 'req_3' })).toMatchObject({
      version: 2,
      provider_request_id: 'req_3',
    })
  })

  test('is refused when it names another provider_ref', () => {
    const operation = recorded({ state: 'executing', provider_ref: 're_1' })
    const outcome = applyTransition(operation, { to: 'completed', provider_ref: 're_2' }, REPORTED, LATER)
    expect(outcome).toEqual({ kind: 'refused', reason: 'other_provider_ref' })
  })

  test('is refused with the reason of the state machine when it is illegal', () => {
    const outcome = applyTransition(recorded({ state: 'completed' }), { to: 'executing' }, REPORTED, LATER)
    expect(outcome).toEqual({ kind: 'refused', reason: 'would_go_back' })
  })
})
