import { type ObjectState, ProviderId } from '@backstop/contracts'
import { z } from 'zod'
import { detailsOf, shownText } from '../../details.ts'
import {
  CurrencyCode,
  Detail,
  helpful,
  nameObject,
  type ObjectMeaning,
  reading,
  stateIn,
  Text,
  TextTime,
} from '../../object-fields.ts'
import type { ObservedRecord, Sighting } from '../../sighting.ts'
import { customerOf, numberIn, pageOf, type ResellerContext } from './details.ts'

/** An amount in minor units. The reseller sends strings; a number is accepted too, because its meaning is clear. */
const Amount = z.union([
  z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number),
  z.int().min(0),
])

export const Adjustment = z.object({
  id: ProviderId,
  action: Text,
  transaction_id: helpful(ProviderId),
  subscription_id: helpful(ProviderId),
  currency_code: CurrencyCode.nullish(),
  status: helpful(z.string()),
  totals: z.object({ total: Amount.nullish() }).nullish(),
  created_at: helpful(TextTime),
  updated_at: helpful(TextTime),
  customer_id: Detail,
  /** The text that the maker of the adjustment wrote. */
  reason: Detail,
  transaction: Detail,
})
type Adjustment = z.infer<typeof Adjustment>

/**
 * Normalises an adjustment. Its field `action` says whether the money moves to the buyer (e.g. refund) or back to the seller.
 * A reversal is a separate adjustment with its own id.
 */
export const meaningOfAdjustment: ObjectMeaning<ResellerContext> = (context, object) =>
  reading('adjustment', Adjustment, object, adjustment => {
    const createdAt = adjustment.created_at ?? context.shownAt
    if (createdAt === null) return { kind: 'malformed', reason: 'adjustment.created_at: No time is given' }
    const record = RECORDS.get(adjustment.action)
    if (record === undefined) {
      return { kind: 'ignored', reason: `Adjustments with action ${adjustment.action} are not known` }
    }
    const belongsTo = [adjustment.transaction_id, adjustment.subscription_id]
    const common = {
      ...nameObject(context, 'reseller', 'adjustment', adjustment.id, belongsTo),
      providerRef: adjustment.id,
      amount: adjustment.totals?.total ?? null,
      currency: adjustment.currency_code ?? null,
      state: stateIn(STATES, adjustment.status),
      stateVersion: adjustment.updated_at,
      createdAt,
      ...adjustmentDetails(context, adjustment),
    }
    const sighting: Sighting =
      record === 'refund'
        ? { kind: 'action', action: 'refund', ...common, gatewayRefs: [], idempotencyKey: null }
        : { kind: 'record', record, ...common }
    return { kind: 'observed', sightings: [sighting] }
  })

function adjustmentDetails(context: ResellerContext, adjustment: Adjustment) {
  const { customer_id, reason, transaction_id, transaction } = adjustment
  return detailsOf({
    customer: customerOf(customer_id, transaction),
    payment: { number: numberIn(transaction), refund_reason: shownText(reason) },
    mode: context.mode,
    dashboardUrl: pageOf(context, 'transactions-v2', transaction_id),
  })
}

const RECORDS: ReadonlyMap<string, ObservedRecord['record'] | 'refund'> = new Map([
  ['refund', 'refund'],
  ['credit', 'credit'],
  ['chargeback', 'dispute'],
  ['chargeback_warning', 'dispute'],
  ['credit_reverse', 'reversal'],
  ['chargeback_reverse', 'reversal'],
  ['chargeback_warning_reverse', 'reversal'],
])

/** The state of an adjustment. Most refunds wait for the reseller's review, the others are approved at creation. */
const STATES: Readonly<Record<string, ObjectState>> = {
  approved: 'succeeded',
  rejected: 'rejected',
  reversed: 'reversed',
}
