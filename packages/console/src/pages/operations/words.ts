import type { ShownOperation } from '@backstop/client'
import { formatMoney } from '../../format/money.ts'

/** What an operation does, with its money: `Refund of EUR 25.00`. */
export function nameOperation({
  kind,
  amount,
  currency,
}: Pick<ShownOperation, 'kind' | 'amount' | 'currency'>): string {
  if (kind === 'cancellation') return 'Cancellation'
  return amount === null || currency === null ? 'Refund' : `Refund of ${formatMoney(amount, currency)}`
}

export const OPERATION_KINDS = [
  { value: 'refund', label: 'Refund' },
  { value: 'cancellation', label: 'Cancellation' },
] as const satisfies readonly { value: ShownOperation['kind']; label: string }[]

export const OPERATION_STATES = [
  { value: 'approval_pending', label: 'Waits for approval' },
  { value: 'requested', label: 'Requested' },
  { value: 'approved', label: 'Approved' },
  { value: 'declined', label: 'Declined' },
  { value: 'expired', label: 'Expired' },
  { value: 'executing', label: 'Executing' },
  { value: 'awaiting_review', label: 'Awaits review' },
  { value: 'completed', label: 'Completed' },
  { value: 'failed', label: 'Failed' },
  { value: 'rejected', label: 'Rejected' },
] as const satisfies readonly { value: ShownOperation['state']; label: string }[]

/** What a state means for money and verdicts, in one sentence. */
export const STATE_MEANING: Record<ShownOperation['state'], string> = {
  requested: 'Your software asked for it and has not sent it to the provider yet.',
  approval_pending: 'It waits until a person approves or declines it.',
  approved: 'A person approved it. Your software may send it to the provider now.',
  declined: 'A person declined it. If your software sends it nevertheless, its refund or cancellation is alerted.',
  expired:
    'Nobody decided before the deadline. If your software sends it nevertheless, its refund or cancellation is alerted.',
  executing: 'Your software has sent it to the provider, and has not reported the answer yet.',
  awaiting_review: 'The provider is reviewing it.',
  completed: 'The provider carried it out.',
  failed:
    'Your software reported a failure. The provider may have carried it out all the same, so it still explains a refund or cancellation.',
  rejected: 'The provider refused it, so no money moved.',
}

export const UNAPPROVED_MEANING: Record<NonNullable<ShownOperation['unapproved']>, string> = {
  never_asked: 'It was executed without asking for the approval that this project requires, so it explains nothing.',
  outstanding: 'It was executed before anybody approved it, so it explains nothing.',
  declined: 'It was executed although it was declined, so it explains nothing.',
  expired: 'It was executed after its deadline for approval, so it explains nothing.',
}

export const INTERVALS = {
  day: 'Each day',
  week: 'Each week',
  month: 'Each month',
} as const
