import type { ExpectedChangeDocument } from '@backstop/contracts'
import type { ExpectedChange } from '../src/case/expected-change.ts'
import { MINUTE, PROJECT, T0 } from './fixtures.ts'

/** An expected change in a case. By default it covers one refund of any payment and amount, from T0 for an hour. */
export function expectedChange(more: Partial<ExpectedChange> = {}): ExpectedChange {
  return {
    id: 'exp_1',
    projectId: PROJECT,
    connectionId: null,
    kind: 'refund',
    subject: null,
    amount: null,
    currency: null,
    createdAt: T0,
    startsAt: null,
    expiresAt: T0 + 60 * MINUTE,
    maxChanges: 1,
    maxAmount: null,
    usedElsewhere: { changes: 0, amount: 0 },
    ...more,
  }
}

/** An expected change that covers any refund and expires at T0. */
export function expectedChangeDocument(
  _id: string,
  more: Partial<ExpectedChangeDocument> = {},
): ExpectedChangeDocument {
  return {
    _id,
    project_id: PROJECT,
    connection_id: null,
    kind: 'refund',
    subject: null,
    amount: null,
    currency: null,
    max_changes: 1,
    max_amount: null,
    starts_at: null,
    note: 'Goodwill',
    created_by: 'key_1',
    created_at: new Date(T0 - MINUTE),
    expires_at: new Date(T0),
    ...more,
  }
}
