import { ProviderId } from '@backstop/contracts'
import { z } from 'zod'
import { detailsOf, shownText, textAt } from '../../details.ts'
import { Detail, helpful, nameObject, type ObjectMeaning, reading, Text, TextTime } from '../../object-fields.ts'
import type { CancellationState, ObservedSubscription, PauseState } from '../../sighting.ts'
import { customerOf, numberIn, pageOf, type ResellerContext } from './details.ts'

/** The fields of an item that decide how a trial ends, and that name what was sold. */
const Item = z.object({
  trial_dates: helpful(z.object({ ends_at: TextTime })),
  price: helpful(
    z.object({
      trial_period: helpful(z.object({ requires_payment_method: helpful(z.boolean()) })),
      name: Detail,
      description: Detail,
    }),
  ),
  product: Detail,
})

export const Subscription = z.object({
  id: ProviderId,
  status: Text,
  canceled_at: helpful(TextTime),
  paused_at: helpful(TextTime),
  updated_at: helpful(TextTime),
  first_billed_at: helpful(TextTime),
  customer_id: Detail,
  transaction: Detail,
  items: helpful(z.array(Item)),
  scheduled_change: z.object({ action: z.string(), effective_at: helpful(TextTime) }).nullish(),
})
type Subscription = z.infer<typeof Subscription>

/**
 * Normalises a subscription. The reseller sends states without previous values, so changes follow from the sequence of states.
 */
export const meaningOfSubscription: ObjectMeaning<ResellerContext> = (context, object) =>
  reading('subscription', Subscription, object, subscription => {
    const asOf = subscription.updated_at ?? context.shownAt
    if (asOf === null) return { kind: 'malformed', reason: 'subscription.updated_at: No time is given' }
    const sighting: ObservedSubscription = {
      kind: 'subscription',
      ...nameObject(context, 'reseller', 'subscription', subscription.id, [subscription.id]),
      asOf,
      cancellation: cancellationOf(subscription),
      pause: pauseOf(subscription),
      before: null,
      isPastDue: subscription.status === 'past_due',
      idempotencyKey: null,
      ...subscriptionDetails(context, subscription),
    }
    return { kind: 'observed', sightings: [sighting] }
  })

function subscriptionDetails(context: ResellerContext, { id, customer_id, items, transaction }: Subscription) {
  return detailsOf({
    customer: customerOf(customer_id, transaction),
    payment: { number: numberIn(transaction), plan: planOf(items?.[0]) },
    mode: context.mode,
    dashboardUrl: pageOf(context, 'subscriptions-v2', id),
  })
}

function planOf(item: z.infer<typeof Item> | undefined): string | null {
  return textAt(item?.product, 'name') ?? shownText(item?.price?.name) ?? shownText(item?.price?.description)
}

/**
 * The cancellation of a subscription. The reseller gives neither time nor reason of a request, but the times show the end of an
 * unpaid trial.
 */
function cancellationOf(subscription: Subscription): CancellationState {
  const unsaid = { requestedAt: null, cause: 'requested', detail: null } as const
  if (subscription.status === 'canceled') {
    const cause = isEndOfUnpaidTrial(subscription) ? 'no_payment_method' : 'requested'
    return { ...unsaid, phase: 'executed', effectiveAt: subscription.canceled_at, cause }
  }
  const change = subscription.scheduled_change
  if (change?.action === 'cancel') return { phase: 'scheduled', effectiveAt: change.effective_at, ...unsaid }
  return { phase: 'none', effectiveAt: null, ...unsaid }
}

/** The longest time in milliseconds from the end of a trial to the end of its subscription. */
const TRIAL_ENDS_WITHIN_MS = 3_600_000

/**
 * True if the subscription ended with its trial and was never paid, because the trial requires no payment method. Without a
 * payment method the reseller accepts no scheduled change of a subscription, so the end was not scheduled by a request.
 */
function isEndOfUnpaidTrial({ canceled_at, first_billed_at, items }: Subscription): boolean {
  if (canceled_at === null || first_billed_at !== null || items === null || items.length === 0) return false
  const ends = items.flatMap(({ trial_dates }) => trial_dates?.ends_at ?? [])
  const isCardless = items.every(({ price }) => price?.trial_period?.requires_payment_method === false)
  const endedLateBy = canceled_at - Math.max(...ends)
  return isCardless && ends.length > 0 && endedLateBy >= 0 && endedLateBy <= TRIAL_ENDS_WITHIN_MS
}

function pauseOf(subscription: Subscription): PauseState {
  if (subscription.status === 'paused') return { phase: 'paused', effectiveAt: subscription.paused_at }
  const change = subscription.scheduled_change
  if (change?.action === 'pause') return { phase: 'scheduled', effectiveAt: change.effective_at }
  return { phase: 'none', effectiveAt: null }
}
