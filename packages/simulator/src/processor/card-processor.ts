/**
 * A card processor's account, kept in memory: customers, payments, refunds and the events about them. It changes the
 * way a real account does (compatible with Stripe), so that what Backstop sees of it is consistent: what an event says
 * can be read again, a full refund cannot be repeated, an idempotency key answers what it answered before.
 */
import type Stripe from 'stripe'
import { type Chance, createChance } from '../chance.ts'
import { type EventRequest, makeEvent, previousAttributes } from './events.ts'
import { makePayment, makeRefund, type Payment, type PaymentRequest } from './objects.ts'
import { invalidRequest, noSuch, ProcessorRefusal } from './processor-refusal.ts'

export interface CardProcessorOptions {
  /** Milliseconds since the epoch, e.g. `Date.now`. */
  now: () => number
  /** Ids come from it. */
  chance?: Chance
  livemode?: boolean
  /** Accounts from before 2024-10-28 tell of a card refund by `charge.refunded` alone: false is such an account. */
  sendsRefundEvents?: boolean
}

export interface RefundRequest {
  /** One of the two names the payment. */
  charge?: string
  payment_intent?: string
  /** Minor units; what is left of the charge when left out. */
  amount?: number
  reason?: 'duplicate' | 'fraudulent' | 'requested_by_customer'
  metadata?: Record<string, string>
  /** Header `Idempotency-Key`. The official library sends one of its own with every POST; null is a bare request. */
  idempotencyKey?: string | null
  /** `pending` until settleRefund, as with banks that take days; most card refunds succeed at once. */
  status?: 'pending' | 'succeeded'
  /** The processor refunds by itself, so that the event has no request id. */
  automatic?: boolean
}

export type Settlement =
  | { status: 'succeeded' }
  | { status: 'failed'; failure_reason: string }
  | { status: 'canceled' }
  | { status: 'requires_action' }

export interface CardProcessor {
  /** A customer pays by card. Leaves `charge.succeeded`. */
  createPayment(request: PaymentRequest): Payment
  /**
   * Gives money back. Leaves `refund.created` and `charge.refunded`.
   * @throws ProcessorRefusal as the API would answer
   */
  refund(request: RefundRequest): Stripe.Refund
  /** A pending refund ends, or a succeeded one comes back failed. Leaves `refund.updated`, and `refund.failed` too. */
  settleRefund(id: string, settlement: Settlement): Stripe.Refund
  /** Changes a refund's metadata: an update that changes nothing about the money. */
  updateRefund(id: string, metadata: Record<string, string>): Stripe.Refund
  customers(): readonly Stripe.Customer[]
  paymentIntents(): readonly Stripe.PaymentIntent[]
  charges(): readonly Stripe.Charge[]
  refunds(): readonly Stripe.Refund[]
  /** Oldest first. Each is the account's state as it was then. */
  events(): readonly Stripe.Event[]
  /** Calls back with each event from now on; the answer ends that. */
  onEvent(listener: (event: Stripe.Event) => void): () => void
}

/** An empty account. */
export function createCardProcessor(options: CardProcessorOptions): CardProcessor {
  const { now, chance = createChance(), livemode = false, sendsRefundEvents = true } = options
  const customers = new Map<string, Stripe.Customer>()
  const paymentIntents = new Map<string, Stripe.PaymentIntent>()
  const charges = new Map<string, Stripe.Charge>()
  const refunds = new Map<string, Stripe.Refund>()
  const events: Stripe.Event[] = []
  const listeners = new Set<(event: Stripe.Event) => void>()
  const replays = new Map<string, { parameters: string; refundId: string }>()

  const seconds = () => Math.floor(now() / 1000)
  const making = () => ({ chance, created: seconds(), livemode })

  function emit(type: Stripe.Event['type'], object: object, request: EventRequest, previous?: object): void {
    const event = makeEvent(making(), { type, object, request, ...(previous === undefined ? {} : { previous }) })
    events.push(event)
    for (const listener of listeners) listener(event)
  }

  function request(idempotencyKey: string | null = null, automatic = false): EventRequest {
    return { id: automatic ? null : `req_${chance.text(14)}`, idempotency_key: automatic ? null : idempotencyKey }
  }

  function existingRefund(id: string): Stripe.Refund {
    const refund = refunds.get(id)
    if (refund === undefined) throw noSuch('refund', id)
    return refund
  }

  function changeRefund(id: string, change: Partial<Stripe.Refund>, by: EventRequest): Stripe.Refund {
    const before = existingRefund(id)
    const after = { ...before, ...change }
    refunds.set(id, after)
    emit('refund.updated', after, by, previousAttributes(before, after))
    return after
  }

  function addToCharge(charge: Stripe.Charge, amount: number): Stripe.Charge {
    const refunded = charge.amount_refunded + amount
    const after = { ...charge, amount_refunded: refunded, refunded: refunded === charge.amount }
    charges.set(charge.id, after)
    return after
  }

  return {
    createPayment(payment) {
      const made = makePayment(making(), payment)
      customers.set(made.customer.id, made.customer)
      paymentIntents.set(made.paymentIntent.id, made.paymentIntent)
      charges.set(made.charge.id, made.charge)
      emit('charge.succeeded', made.charge, request())
      return made
    },

    refund(wanted) {
      const key = wanted.idempotencyKey ?? undefined
      const parameters = JSON.stringify([wanted.charge, wanted.payment_intent, wanted.amount, wanted.reason])
      const replay = key === undefined ? undefined : replays.get(key)
      if (replay !== undefined) {
        if (replay.parameters !== parameters) throw differentParameters(key as string)
        return existingRefund(replay.refundId)
      }
      const charge = findCharge(charges, wanted)
      const amount = amountToRefund(charge, wanted.amount)
      const refund = makeRefund(making(), {
        charge,
        amount,
        status: wanted.status ?? 'succeeded',
        reason: wanted.reason ?? null,
        metadata: wanted.metadata ?? {},
      })
      refunds.set(refund.id, refund)
      if (key !== undefined) replays.set(key, { parameters, refundId: refund.id })
      const by = request(wanted.idempotencyKey, wanted.automatic)
      const after = addToCharge(charge, amount)
      if (sendsRefundEvents) emit('refund.created', refund, by)
      emit('charge.refunded', after, by, previousAttributes(charge, after))
      return refund
    },

    settleRefund(id, settlement) {
      const before = existingRefund(id)
      if (before.status === 'failed' || before.status === 'canceled') {
        throw invalidRequest(`Refund ${id} has status ${before.status} and cannot change any more.`)
      }
      const by = request(null, settlement.status !== 'canceled')
      const after = changeRefund(id, settledFields(settlement, chance), by)
      if (settlement.status === 'failed' || settlement.status === 'canceled') {
        const charge = charges.get(before.charge as string)
        if (charge !== undefined) addToCharge(charge, -before.amount)
      }
      if (settlement.status === 'failed') emit('refund.failed', after, by)
      return after
    },

    updateRefund: (id, metadata) => changeRefund(id, { metadata }, request()),
    customers: () => [...customers.values()],
    paymentIntents: () => [...paymentIntents.values()],
    charges: () => [...charges.values()],
    refunds: () => [...refunds.values()],
    events: () => events,
    onEvent(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

function settledFields(settlement: Settlement, chance: Chance): Partial<Stripe.Refund> {
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

function findCharge(charges: ReadonlyMap<string, Stripe.Charge>, wanted: RefundRequest): Stripe.Charge {
  if (wanted.charge !== undefined) {
    const charge = charges.get(wanted.charge)
    if (charge === undefined) throw noSuch('charge', wanted.charge, 'charge')
    return charge
  }
  if (wanted.payment_intent === undefined)
    throw invalidRequest('One of the following params should be provided for this request: payment_intent or charge.')
  const ofIntent = [...charges.values()].find(charge => charge.payment_intent === wanted.payment_intent)
  if (ofIntent === undefined) throw noSuch('payment_intent', wanted.payment_intent, 'payment_intent')
  return ofIntent
}

function amountToRefund(charge: Stripe.Charge, wanted: number | undefined): number {
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
