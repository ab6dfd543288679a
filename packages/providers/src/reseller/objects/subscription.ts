import { ProviderId } from '@backstop/contracts'
import { z } from 'zod'
import { helpful, nameObject, type ObjectMeaning, reading, TextTime } from '../../object-fields.ts'
import type { CancellationState, ObservedSubscription, PauseState } from '../../observation.ts'

const Subscription = z.object({
  id: ProviderId,
  status: z.string().min(1),
  canceled_at: helpful(TextTime),
  paused_at: helpful(TextTime),
  updated_at: helpful(TextTime),
  scheduled_change: z.object({ action: z.string(), effective_at: helpful(TextTime) }).nullish(),
})
type Subscription = z.infer<typeof Subscription>

/** The reseller sends states and no differences: what changed is read off the row of them. */
export const meaningOfSubscription: ObjectMeaning = (telling, object) =>
  reading('subscription', Subscription, object, subscription => {
    const asOf = subscription.updated_at ?? telling.toldAt
    if (asOf === null) return { kind: 'malformed', reason: 'subscription.updated_at: No time is given' }
    const observed: ObservedSubscription = {
      kind: 'subscription',
      ...nameObject(telling, 'reseller', 'subscription', subscription.id, [subscription.id]),
      asOf,
      cancellation: cancellationOf(subscription),
      pause: pauseOf(subscription),
      before: null,
      isPastDue: subscription.status === 'past_due',
      idempotencyKey: null,
    }
    return { kind: 'observed', observations: [observed] }
  })

/** It says neither when nor why an end was asked for. */
function cancellationOf(subscription: Subscription): CancellationState {
  const unsaid = { requestedAt: null, cause: 'requested', detail: null } as const
  if (subscription.status === 'canceled') return { phase: 'executed', effectiveAt: subscription.canceled_at, ...unsaid }
  const change = subscription.scheduled_change
  if (change?.action === 'cancel') return { phase: 'scheduled', effectiveAt: change.effective_at, ...unsaid }
  return { phase: 'none', effectiveAt: null, ...unsaid }
}

function pauseOf(subscription: Subscription): PauseState {
  if (subscription.status === 'paused') return { phase: 'paused', effectiveAt: subscription.paused_at }
  const change = subscription.scheduled_change
  if (change?.action === 'pause') return { phase: 'scheduled', effectiveAt: change.effective_at }
  return { phase: 'none', effectiveAt: null }
}
