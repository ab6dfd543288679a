/** Refunds, credits and chargebacks of a completed transaction at the reseller. */
import type { AdjustmentAction } from '@paddle/paddle-node-sdk'
import type { AccountState } from './account-state.ts'
import { type AdjustmentFields, makeAdjustment, type ResellerAdjustment } from './objects/adjustment.ts'
import type { ResellerTransaction } from './objects/transaction.ts'
import { invalidField, ResellerRefusal } from './refusal.ts'

export interface AdjustmentRequest {
  transactionId: string
  /** Minor units, including tax. By default the part of the transaction that is not adjusted yet. */
  amount?: number
  /** The reason in free text. It is the only text field that a team can set. */
  reason?: string
}

export interface AdjustmentActions {
  /**
   * Requests a refund. Most live refunds wait for the reseller's review (`pending_approval`) until review().
   * @throws ResellerRefusal like the API
   */
  refund(request: AdjustmentRequest & { review?: 'pending' | 'automatic' }): ResellerAdjustment
  /** Gives a credit, which is approved at once. `proration` is the credit of a downgrade in mid-cycle. */
  credit(request: AdjustmentRequest & { proration?: boolean }): ResellerAdjustment
  /** Creates a chargeback: the buyer's bank takes the money back. Some chargebacks have an earlier warning. */
  chargeback(request: AdjustmentRequest & { warning?: boolean }): ResellerAdjustment
  /**
   * Ends the review of a refund: the reseller's staff approves or rejects it. Emits adjustment.updated.
   * @throws ResellerRefusal if the adjustment is not pending
   */
  review(adjustmentId: string, outcome: 'approved' | 'rejected'): ResellerAdjustment
  /**
   * Reverses a credit or a chargeback by a new adjustment. The reversed adjustment gets the status `reversed`. Emits
   * adjustment.created and adjustment.updated. @returns the new adjustment
   */
  reverse(adjustmentId: string): ResellerAdjustment
}

const REVERSAL_OF: Partial<Record<AdjustmentAction, AdjustmentAction>> = {
  credit: 'credit_reverse',
  chargeback: 'chargeback_reverse',
  chargeback_warning: 'chargeback_warning_reverse',
}

/** The adjustment operations of an account. */
export function adjustmentActions(state: AccountState): AdjustmentActions {
  function adjust(
    action: AdjustmentAction,
    request: AdjustmentRequest,
    how: { status: 'pending_approval' | 'approved'; proration?: boolean; toBalance?: boolean },
  ): ResellerAdjustment {
    const transaction = state.transactions.existing(request.transactionId)
    const left = leftToAdjust(state, transaction)
    const amount = request.amount ?? left
    refuseUnlessPossible(state, transaction, amount, left)
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

  const create = (fields: AdjustmentFields) => state.addAdjustment(makeAdjustment(state.context(), fields))

  return {
    refund: ({ review = 'pending', ...request }) =>
      adjust('refund', request, { status: review === 'pending' ? 'pending_approval' : 'approved' }),
    credit: ({ proration = false, ...request }) =>
      adjust('credit', request, { status: 'approved', proration, toBalance: true }),
    chargeback: ({ warning = false, ...request }) =>
      adjust(warning ? 'chargeback_warning' : 'chargeback', request, { status: 'approved' }),

    review(adjustmentId, outcome) {
      const { status } = state.adjustments.existing(adjustmentId)
      if (status !== 'pending_approval') {
        throw new ResellerRefusal(409, 'shared/conflict', `Adjustment ${adjustmentId} is ${status} already`)
      }
      return state.changeAdjustment(adjustmentId, { status: outcome })
    },

    reverse(adjustmentId) {
      const before = state.adjustments.existing(adjustmentId)
      const action = REVERSAL_OF[before.action]
      if (action === undefined || before.status !== 'approved') {
        throw new ResellerRefusal(400, 'shared/bad_request', `Adjustment ${adjustmentId} cannot be reversed`)
      }
      const reversal = create({
        transaction: state.transactions.existing(before.transaction_id),
        action,
        amount: Number(before.totals.total),
        isFull: before.type === 'full',
        reason: before.reason,
        status: 'approved',
        toBalance: before.credit_applied_to_balance,
        itemType: before.type,
      })
      state.changeAdjustment(adjustmentId, { status: 'reversed' })
      return reversal
    },
  }
}

/** The amount of the transaction that is neither adjusted nor requested, in minor units. */
function leftToAdjust(state: AccountState, transaction: ResellerTransaction): number {
  const counts = ({ action, status }: ResellerAdjustment) =>
    ['refund', 'credit', 'chargeback'].includes(action) && (status === 'pending_approval' || status === 'approved')
  return state
    .adjustmentsOf(transaction.id)
    .filter(counts)
    .reduce((left, { totals }) => left - Number(totals.total), Number(transaction.details?.totals?.total))
}

function refuseUnlessPossible(
  state: AccountState,
  transaction: ResellerTransaction,
  amount: number,
  left: number,
): void {
  if (state.adjustmentsOf(transaction.id).some(({ status }) => status === 'pending_approval')) {
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
