import type { Budget, NewOperation, Operation } from '@backstop/contracts'
import { LedgerRefusal, type Refusal } from '@backstop/ledger'
import { expect, test } from 'vitest'
import { explainRefusal } from './explain-refusal.ts'

const operation = {
  operation_id: 'op_1',
  state: 'approval_pending',
  amount: 1_200,
  provider_ref: 're_1',
  approval: { deadline_at: '2026-11-21T12:00:00.000Z' },
} as Operation
const budget = { budget_id: 'bud_1', cap: 2_000, currency: 'eur', interval: 'week' } as Budget
const reported = { state: 'requested' } as NewOperation

const REFUSALS: { refusal: Refusal; code: string; says: RegExp; path?: string }[] = [
  {
    refusal: { kind: 'transition', operation, to: 'approved', reason: 'approval_is_not_yours' },
    code: 'illegal_transition',
    says: /^Operation op_1 cannot become approved: .* call POST \/v1\/operations\/\{id\}\/approve /,
  },
  {
    refusal: { kind: 'transition', operation, to: 'completed', reason: 'other_provider_ref' },
    code: 'conflict',
    says: /its provider_ref is re_1; report another provider_ref as another operation$/,
  },
  {
    refusal: { kind: 'reported_as_approved' },
    code: 'illegal_transition',
    says: /cannot be reported as approved: .* call POST \/v1/,
  },
  {
    refusal: { kind: 'time', field: 'failed_at', reason: 'lies_in_the_future' },
    code: 'invalid_request',
    says: /more than 5 minutes ahead/,
    path: 'body.failed_at',
  },
  {
    refusal: { kind: 'uncountable', budget },
    code: 'invalid_request',
    says: /Give amount and currency: budget bud_1/,
    path: 'body.amount',
  },
  {
    refusal: { kind: 'budget_exceeded', operation, budget, left: 800, periodEndsAt: '2026-11-23T00:00:00.000Z' },
    code: 'budget_exceeded',
    says: /^Budget bud_1 \(EUR 20\.00 per week\) has EUR 8\.00 left until 2026-11-23T\S+, and the operation asks for EUR 12\.00: /,
  },
  {
    refusal: { kind: 'report_differs', stored: operation, reported, field: 'state' },
    code: 'idempotency_conflict',
    says: /is approval_pending and cannot become requested; use another key/,
  },
]

test.each(REFUSALS)('a refusal of kind $refusal.kind says what to do: $says', ({ refusal, code, says, path }) => {
  const thrown = new LedgerRefusal(refusal)
  expect(thrown).toMatchObject({ code, message: expect.not.stringMatching(/\/v1\/|body\./) })
  const explained = explainRefusal(thrown)
  expect(explained).toMatchObject({ code, message: expect.stringMatching(says) })
  expect(explained.details.errors).toEqual(path === undefined ? undefined : [{ path, message: expect.any(String) }])
})
