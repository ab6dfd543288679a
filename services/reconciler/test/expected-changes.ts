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
