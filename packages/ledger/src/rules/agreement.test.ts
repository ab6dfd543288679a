import type { NewOperation, Operation } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { compareReport } from './agreement.ts'
import { applyTransition, recordOperation } from './operation.ts'

const NOW = Date.parse('2026-11-21T10:00:00.000Z')
const NO_APPROVAL = { required: false, deadlineMs: 60_000 }
const REPORTED = { mover: { kind: 'reporter' }, policy: NO_APPROVAL } as const
const connection = { _id: 'con_1', project_id: 'prj_1', kind: 'processor', site: null } as const
const report = {
  connection_id: 'con_1',
  kind: 'refund',
  subject: 'pi_1',
  amount: 1200,
  currency: 'eur',
  state: 'executing',
  idempotency_key: 'k',
  run_id: 'run-1',
  executing_at: '2026-11-21T09:59:00Z',
} as const satisfies NewOperation

function stored(): Operation {
  const outcome = recordOperation('op_1', report, connection, NO_APPROVAL, NOW)
  if (outcome.kind !== 'recorded') throw new Error(outcome.reason)
  return outcome.operation
}

describe('a report under a known idempotency key', () => {
  test('agrees when it is repeated unchanged', () => {
    expect(compareReport(stored(), report)).toEqual({ kind: 'agrees' })
  })

  test('agrees after the operation moved on and got its provider_ref', () => {
    const moved = applyTransition(stored(), { to: 'completed', provider_ref: 're_1' }, REPORTED, NOW + 1)
    if (moved.kind !== 'moved') throw new Error(moved.kind)
    expect(compareReport(moved.operation, report)).toEqual({ kind: 'agrees' })
  })

  test('agrees with a decision that the operation ignored', () => {
    const declined = recordOperation(
      'op_1',
      { ...report, state: 'declined', executing_at: undefined },
      connection,
      NO_APPROVAL,
      NOW,
    )
    if (declined.kind !== 'recorded') throw new Error(declined.kind)
    const moved = applyTransition(declined.operation, { to: 'completed' }, REPORTED, NOW + 1)
    if (moved.kind !== 'moved') throw new Error(moved.kind)
    const { executing_at: _, ...again } = report
    expect(compareReport(moved.operation, { ...again, state: 'declined' })).toEqual({ kind: 'agrees' })
  })

  test('agrees when it leaves out a time that the ledger set', () => {
    const { executing_at: _, ...without } = report
    expect(compareReport(stored(), without)).toEqual({ kind: 'agrees' })
  })

  test('agrees when a repeated call was answered under another id of the request, and adds an unknown id', () => {
    const answered = { ...report, provider_request_id: 'req_1' }
    expect(compareReport({ ...stored(), provider_request_id: 'req_0' }, answered)).toEqual({ kind: 'agrees' })
    expect(compareReport(stored(), answered)).toEqual({ kind: 'goes_on', to: 'executing' })
  })

  test('agrees when it leaves out fields of the first report', () => {
    const { amount: _a, currency: _c, run_id: _r, ...without } = report
    expect(compareReport(stored(), without)).toEqual({ kind: 'agrees' })
  })

  test('agrees with an operation in a later state', () => {
    const moved = applyTransition(stored(), { to: 'completed' }, REPORTED, NOW + 1)
    if (moved.kind !== 'moved') throw new Error(moved.kind)
    expect(compareReport(moved.operation, report)).toEqual({ kind: 'agrees' })
  })

  const further: { name: string; change: Partial<NewOperation>; to: Operation['state'] }[] = [
    { name: 'its end', change: { state: 'completed' }, to: 'completed' },
    {
      name: 'its end with its times and the id that the provider gave',
      change: {
        state: 'completed',
        provider_ref: 're_9',
        executing_at: '2026-11-21T09:58:00Z',
        ended_at: '2026-11-21T09:59:30Z',
      },
      to: 'completed',
    },
    { name: 'the id that the provider gave', change: { provider_ref: 're_9' }, to: 'executing' },
  ]
  test.each(further)('moves the operation when it reports $name', ({ change, to }) => {
    expect(compareReport(stored(), { ...report, ...change })).toEqual({ kind: 'goes_on', to })
  })

  const different: { field: string; change: Partial<NewOperation> }[] = [
    { field: 'kind', change: { kind: 'cancellation' } },
    { field: 'subject', change: { subject: 'pi_2' } },
    { field: 'amount', change: { amount: 1 } },
    { field: 'currency', change: { currency: 'usd' } },
    { field: 'run_id', change: { run_id: 'run-2' } },
    { field: 'state', change: { state: 'declined' } },
    { field: 'executing_at', change: { executing_at: '2026-11-21T09:58:00Z' } },
    { field: 'ended_at', change: { ended_at: '2026-11-21T09:59:30Z' } },
  ]
  test.each(different)('differs with another $field', ({ field, change }) => {
    expect(compareReport(stored(), { ...report, ...change })).toEqual({ kind: 'differs', field })
  })

  test('differs when it names another provider_ref than the stored one', () => {
    const moved = applyTransition(stored(), { to: 'completed', provider_ref: 're_1' }, REPORTED, NOW + 1)
    if (moved.kind !== 'moved') throw new Error(moved.kind)
    const other = { ...report, state: 'completed', provider_ref: 're_2' } as const
    expect(compareReport(moved.operation, other)).toEqual({ kind: 'differs', field: 'provider_ref' })
  })
})
