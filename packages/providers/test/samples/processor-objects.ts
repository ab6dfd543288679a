/** The processor's objects, as an account at the simulator makes them. */
import { createCardProcessor, createChance } from '@backstop/simulator'
import { withFixedValues } from './with-fixed-values.ts'

let seconds = 1_763_900_000
const account = createCardProcessor({ now: () => seconds * 1_000, chance: createChance(1), livemode: true })
const sold = account.subscribe({ amount: 4999, currency: 'eur', name: 'Sam Buyer', email: 'buyer@shop.example' })
const { charge } = sold.payment
seconds = 1_763_999_999
const made = account.refund({
  charge: charge.id,
  ...{ amount: 2499, status: 'pending', reason: 'requested_by_customer', metadata: { operation_id: 'op_7f2' } },
})
seconds = 1_764_000_000
const schedule = account.scheduleCancelByObject(sold.subscription.id)
const dispute = account.dispute(charge.id)

const VALUES = {
  [made.id]: 're_3Q',
  [charge.id]: 'ch_3P',
  [sold.payment.paymentIntent.id]: 'pi_3P',
  [sold.payment.customer.id]: 'cus_9',
  [sold.subscription.id]: 'sub_1N',
  [schedule.id]: 'sub_sched_1N',
  [dispute.id]: 'du_1P',
  // The end of the period, 30 days after its beginning.
  1766492000: '1766600000',
}

/** A partial refund of 24.99 EUR that waits for the card network. */
export const REFUND = withFixedValues(made, VALUES)

/** A payment of 49.99 EUR by card of which 24.99 EUR are refunded. */
export const CHARGE = {
  ...withFixedValues(charge, VALUES),
  ...{ amount_refunded: 2499, receipt_email: 'receipts@shop.example', receipt_number: '1043-2207' },
}

/** A dispute of the payment of CHARGE that waits for an answer. */
export const DISPUTE = withFixedValues(dispute, VALUES)

/** An active monthly subscription. */
export const SUBSCRIPTION = withFixedValues(sold.subscription, VALUES)

/** A schedule that ends the sample subscription with its current period. */
export const SCHEDULE = withFixedValues(schedule, VALUES)
