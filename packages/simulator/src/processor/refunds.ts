/** Refunds of card charges and their later states, and disputes. */
import type Stripe from 'stripe'
import type { Chance } from '../chance.ts'
import type { AccountState, Caller } from './account-state.ts'
import { type EventRequest, previousAttributes } from './events.ts'
import { makeDispute } from './objects/dispute.ts'
import { makeRefund } from './objects/refund.ts'
import { invalidRequest, noSuch, ProcessorRefusal } from './refusal.ts'

export interface RefundRequest extends Caller {
  /** The charge to refund. Either `charge` or `payment_intent` is required. */
  charge?: string
  payment_intent?: string
  /** Minor units; the rest of the charge by default. */
  amount?: number
  reason?: 'duplicate' | 'fraudulent' | 'requested_by_customer'
  metadata?: Record<string, string>
  /** The first state. `pending` lasts until settleRefund, as with slow banks. By default a refund succeeds at once. */
  status?: 'pending' | 'succeeded'
}

export type Settlement =
  | { status: 'succeeded' }
  | { status: 'failed'; failure_reason: string }
  | { status: 'canceled' }
  | { status: 'requires_action' }

export interface RefundActions {
  /**
   * Makes a refund. Emits `refund.created` and `charge.refunded`.
   * @throws ProcessorRefusal like the API
   */
  refund(request: RefundRequest): Stripe.Refund
  /** Ends a pending refund, or makes a succeeded one fail. Emits `refund.updated`, and `refund.failed` for a failure. */
  settleRefund(id: string, settlement: Settlement): Stripe.Refund
  /** Changes a refund's metadata, which does not affect the money. */
  updateRefund(id: string, metadata: Record<string, string>): Stripe.Refund
  /** The cardholder's bank withdraws the money. Emits `charge.dispute.created`. */
  dispute(chargeId: string, reason?: string): Stripe.Dispute
  /** Emits `charge.dispute.closed`. */
  closeDispute(id: string, outcome: 'won' | 'lost'): Stripe.Dispute
}

/**
 * The refund operations of an account.
 * @param sendsRefundEvents false for an account from before 2024-10-28, which reports refunds by their charge
 */
export function refundActions(state: AccountState, sendsRefundEvents: boolean): RefundActions {
  const replays = new Map<string, { parameters: string; refundId: string }>()

  function changeRefund(id: string, change: Partial<Stripe.Refund>, request: EventRequest): Stripe.Refund {
    const before = state.refunds.existing(id)
    const after = state.refunds.put({ ...before, ...change })
    const previous = previousAttributes(before, after)
    const type = sendsRefundEvents ? 'refund.updated' : 'charge.refund.updated'
    state.emit({ type, object: after, previous }, request)
    return after
  }

  return {
    refund(wanted) {
      const key = wanted.idempotencyKey ?? undefined
      const parameters = JSON.stringify([wanted.charge, wanted.payment_intent, wanted.amount, wanted.reason])
      const replay = key === undefined ? undefined : replays.get(key)
      if (replay !== undefined) {
        if (replay.parameters !== parameters) throw differentParameters(key as string)
        return state.refunds.existing(replay.refundId)
      }
      const charge = findCharge(state, wanted)
      const amount = amountToRefund(charge, wanted.amount)
      const refund = state.refunds.put(
        makeRefund(state.context(), {
          charge,
          amount,
          status: wanted.status ?? 'succeeded',
          reason: wanted.reason ?? null,
          metadata: wanted.metadata ?? {},
        }),
      )
      if (key !== undefined) replays.set(key, { parameters, refundId: refund.id })
      const request = state.requestOf(wanted)
      const after = addToCharge(state, charge, amount)
      if (sendsRefundEvents) state.emit({ type: 'refund.created', object: refund }, request)
      const previous = previousAttributes(charge, after)
      state.emit({ type: 'charge.refunded', object: after, previous }, request)
      return refund
    },

    settleRefund(id, settlement) {
      const before = state.refunds.existing(id)
      if (before.status === 'failed' || before.status === 'canceled') {
        throw invalidRequest(`Refund ${id} has status ${before.status} and cannot change any more.`)
      }
      const request = state.requestOf({ automatic: settlement.status !== 'canceled' })
      const after = changeRefund(id, settlementFields(settlement, state.context().chance), request)
      if (settlement.status === 'failed' || settlement.status === 'canceled') {
        const charge = state.charges.get(String(before.charge))
        if (charge !== undefined) addToCharge(state, charge, -before.amount)
      }
      if (settlement.status === 'failed' && sendsRefundEvents) {
        state.emit({ type: 'refund.failed', object: after }, request)
      }
      return after
    },

    updateRefund: (id, metadata) => changeRefund(id, { metadata }, state.requestOf()),

    dispute(chargeId, reason = 'fraudulent') {
      const charge = state.charges.existing(chargeId)
      return changeDispute(state, makeDispute(state.context(), charge, reason), 'charge.dispute.created')
    },
    closeDispute(id, outcome) {
      return changeDispute(state, { ...state.disputes.existing(id), status: outcome }, 'charge.dispute.closed')
    },
  }
}

function addToCharge(state: AccountState, charge: Stripe.Charge, amount: number): Stripe.Charge {
  const refunded = charge.amount_refunded + amount
  return state.charges.put({ ...charge, amount_refunded: refunded, refunded: refunded === charge.amount })
}

function changeDispute(
  state: AccountState,
  dispute: Stripe.Dispute,
  type: 'charge.dispute.created' | 'charge.dispute.closed',
) {
  const charge = state.charges.get(String(dispute.charge))
  if (charge !== undefined) state.charges.put({ ...charge, disputed: true })
  state.disputes.put(dispute)
  state.emit({ type, object: dispute }, state.requestOf({ automatic: true }))
  return dispute
}

function settlementFields(settlement: Settlement, chance: Chance): Partial<Stripe.Refund> {
  switch (settlement.status) {
    case 'succeeded':
      return { status: 'succeeded', balance_transaction: `txn_3${chance.text(23)}` }
    case 'failed':
      return {
        status: 'failed',
        failure_reason: settlement.failure_reason,
        failure_balance_transaction: `txn_3${chance.text(23)}`,
      }
    case 'canceled':
    case 'requires_action':
      return { status: settlement.status }
    default:
      throw settlement satisfies never
  }
}

function differentParameters(key: string): ProcessorRefusal {
  return new ProcessorRefusal(400, {
    type: 'idempotency_error',
    message: `Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than '${key}' if you meant to execute a different request.`,
  })
}

function findCharge({ charges, paymentIntents }: AccountState, wanted: RefundRequest): Stripe.Charge {
  if (wanted.charge !== undefined) {
    const charge = charges.get(wanted.charge)
    if (charge === undefined) throw noSuch('charge', wanted.charge, 'charge')
    return charge
  }
  if (wanted.payment_intent === undefined)
    throw invalidRequest('One of the following params should be provided for this request: payment_intent or charge.')
  const ofIntent = charges.get(String(paymentIntents.get(wanted.payment_intent)?.latest_charge))
  if (ofIntent === undefined) throw noSuch('payment_intent', wanted.payment_intent, 'payment_intent')
  return ofIntent
}

function amountToRefund(charge: Stripe.Charge, wanted: number | undefined): number {
  if (charge.disputed)
    throw invalidRequest(
      `Charge ${charge.id} has been charged back; cannot issue a refund.`,
      undefined,
      'charge_disputed',
    )
  const left = charge.amount - charge.amount_refunded
  if (left === 0)
    throw invalidRequest(`Charge ${charge.id} has already been refunded.`, undefined, 'charge_already_refunded')
  const amount = wanted ?? left
  if (!Number.isSafeInteger(amount) || amount < 1) {
    throw invalidRequest('This value must be greater than or equal to 1.', 'amount', 'parameter_invalid_integer')
  }
  if (amount > left) {
    throw invalidRequest(`Refund amount (${amount}) is greater than unrefunded amount on charge (${left})`, 'amount')
  }
  return amount
}
