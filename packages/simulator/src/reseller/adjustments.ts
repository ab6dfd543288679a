/** What can happen to the money of a completed transaction at the reseller. */
import type { AdjustmentAction } from '@paddle/paddle-node-sdk'
import type { Books } from './account-state.ts'
import { type AdjustmentFields, makeAdjustment, type ResellerAdjustment } from './objects/adjustment.ts'
import type { ResellerTransaction } from './objects/transaction.ts'
import { invalidField, ResellerRefusal } from './refusal.ts'

export interface AdjustmentRequest {
  transactionId: string
  /** Minor units, tax within; all that is left when left out. */
  amount?: number
  /** Free text, the only place in which a team can leave a mark of its own. */
  reason?: string
}

export interface AdjustmentActions {
  /**
   * Asks for a refund. Most live ones wait for the reseller's review (`pending_approval`) until review().
   * @throws ResellerRefusal as the API would answer
   */
  refund(request: AdjustmentRequest & { review?: 'pending' | 'automatic' }): ResellerAdjustment
  /** Gives a credit, which is approved at once. `proration` is what a downgrade in mid-cycle leaves. */
  credit(request: AdjustmentRequest & { proration?: boolean }): ResellerAdjustment
  /** The buyer's bank takes the money back. A warning comes before some chargebacks. */
  chargeback(request: AdjustmentRequest & { warning?: boolean }): ResellerAdjustment
  /**
   * The reseller's people approve or reject a refund. Leaves adjustment.updated.
   * @throws ResellerRefusal when the adjustment is not pending
   */
  review(adjustmentId: string, outcome: 'approved' | 'rejected'): ResellerAdjustment
  /**
   * Takes a credit or a chargeback back by an adjustment of its own, which is the answer; the first one becomes
   * `reversed`. Leaves adjustment.created and adjustment.updated.
   */
  reverse(adjustmentId: string): ResellerAdjustment
}

const REVERSAL_OF: Partial<Record<AdjustmentAction, AdjustmentAction>> = {
  credit: 'credit_reverse',
  chargeback: 'chargeback_reverse',
  chargeback_warning: 'chargeback_warning_reverse',
}

/** Everything about adjustments that an account can do. */
export function adjustmentActions(books: Books): AdjustmentActions {
  function adjust(
    action: AdjustmentAction,
    request: AdjustmentRequest,
    how: { status: 'pending_approval' | 'approved'; proration?: boolean; toBalance?: boolean },
  ): ResellerAdjustment {
    const transaction = books.transaction(request.transactionId)
    const left = leftToAdjust(books, transaction)
    const amount = request.amount ?? left
    refuseUnlessPossible(books, transaction, amount, left)
    const isFull = amount === Number(transaction.details?.totals?.total)
    return create({
      transaction,
      action,
      amount,
      isFull,
      reason: request.reason ?? 'error',
      status: how.status,
      toBalance: how.toBalance ?? false,
      itemType: how.proration ? 'proration' : isFull ? 'full' : 'partial',
    })
  }

  const create = (fields: AdjustmentFields) => books.addAdjustment(makeAdjustment(books.making(), fields))

  return {
    refund: ({ review = 'pending', ...request }) =>
      adjust('refund', request, { status: review === 'pending' ? 'pending_approval' : 'approved' }),
    credit: ({ proration = false, ...request }) =>
      adjust('credit', request, { status: 'approved', proration, toBalance: true }),
    chargeback: ({ warning = false, ...request }) =>
      adjust(warning ? 'chargeback_warning' : 'chargeback', request, { status: 'approved' }),

    review(adjustmentId, outcome) {
      const { status } = books.adjustment(adjustmentId)
      if (status !== 'pending_approval') {
        throw new ResellerRefusal(409, 'shared/conflict', `Adjustment ${adjustmentId} is ${status} already`)
      }
      return books.changeAdjustment(adjustmentId, { status: outcome })
    },

    reverse(adjustmentId) {
      const before = books.adjustment(adjustmentId)
      const action = REVERSAL_OF[before.action]
      if (action === undefined || before.status !== 'approved') {
        throw new ResellerRefusal(400, 'shared/bad_request', `Adjustment ${adjustmentId} cannot be reversed`)
      }
      const reversal = create({
        transaction: books.transaction(before.transaction_id),
        action,
        amount: Number(before.totals.total),
        isFull: before.type === 'full',
        reason: before.reason,
        status: 'approved',
        toBalance: before.credit_applied_to_balance,
        itemType: before.type,
      })
      books.changeAdjustment(adjustmentId, { status: 'reversed' })
      return reversal
    },
  }
}

/** What of the transaction is neither adjusted nor asked for, in minor units. */
function leftToAdjust(books: Books, transaction: ResellerTransaction): number {
  const counts = ({ action, status }: ResellerAdjustment) =>
    ['refund', 'credit', 'chargeback'].includes(action) && (status === 'pending_approval' || status === 'approved')
  return books
    .adjustmentsOf(transaction.id)
    .filter(counts)
    .reduce((left, { totals }) => left - Number(totals.total), Number(transaction.details?.totals?.total))
}

function refuseUnlessPossible(books: Books, transaction: ResellerTransaction, amount: number, left: number): void {
  if (books.adjustmentsOf(transaction.id).some(({ status }) => status === 'pending_approval')) {
    throw new ResellerRefusal(
      400,
      'adjustments/adjustment_pending_refund_request',
      'You are unable to create further adjustments against this transaction as there is a pending refund request',
    )
  }
  if (!Number.isSafeInteger(amount) || amount < 1) throw invalidField('items.0.amount', 'must be greater than 0')
  if (amount > left) {
    throw new ResellerRefusal(
      400,
      'adjustments/adjustment_total_amount_above_remaining_allowed',
      `The adjustment amount exceeds the total amount left to adjust. Amount to Adjust: ${amount}, Amount Left: ${left}`,
    )
  }
}
