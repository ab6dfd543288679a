import { type Outcome, type Sdk, textAt, valueAt } from './sdk.ts'

/** What the status of an adjustment means. Refunds may wait for a review. */
const STATES: Readonly<Record<string, Outcome['state']>> = {
  pending_approval: 'awaiting_review',
  rejected: 'rejected',
}

/** `@paddle/paddle-node-sdk`. The API has no idempotency keys. */
export const paddleSdk: Sdk = {
  name: 'paddle',
  recognises: client => typeof valueAt(client, 'adjustments.create') === 'function',
  methods: [
    {
      path: 'adjustments.create',
      read([params]) {
        const subject = textAt(params, 'transactionId')
        if (textAt(params, 'action') !== 'refund' || subject === undefined) return undefined
        return { kind: 'refund', subject, amount: amountOfItems(params) }
      },
      readOutcome: answer => ({
        state: STATES[textAt(answer, 'status') ?? ''] ?? 'completed',
        providerRef: textAt(answer, 'id'),
      }),
    },
    {
      path: 'subscriptions.cancel',
      read: ([id]) => (typeof id === 'string' ? { kind: 'cancellation', subject: id } : undefined),
      readOutcome: () => ({ state: 'completed' }),
    },
  ],
}

/** The sum of the items' amounts, if each item has one and the amounts include tax, as the refunded total does. */
function amountOfItems(params: unknown): number | undefined {
  const items = valueAt(params, 'items')
  if (!Array.isArray(items) || items.length === 0 || textAt(params, 'taxMode') === 'external') return undefined
  const amounts = items.map(item => {
    const amount = textAt(item, 'type') === 'partial' ? textAt(item, 'amount') : undefined
    return amount === undefined || !/^\d{1,15}$/.test(amount) ? Number.NaN : Number(amount)
  })
  const sum = amounts.reduce((total, amount) => total + amount, 0)
  return Number.isNaN(sum) ? undefined : sum
}
