import type { Alert, Burst, ChannelFilter, Storm } from '@backstop/contracts'
import { connectionIdOf } from './connection-of-alert.ts'

export type FilterVerdict =
  | { readonly kind: 'passes'; readonly reason: 'no_filter' | 'within_limits' }
  | { readonly kind: 'filtered'; readonly reason: 'other_connection' | 'other_kind' | 'below_minimum' }

/** The facts of refunds and cancellations that the limits apply to. An alert passes if one kind and one amount pass. */
interface ActionFacts {
  readonly kinds: readonly string[]
  readonly amounts: readonly Amount[]
}

interface Amount {
  readonly amount: number | null
  readonly currency: string | null
}

/**
 * Decides whether a channel gets an alert. The limit on connections applies to every alert about a connection. The limits on kinds and
 * amounts apply only to alerts about a refund or cancellation at the provider: a problem of the installation, a budget or an approval must
 * not disappear because of them.
 * @param filter null if the channel has none
 */
export function judgeFilter(alert: Alert, filter: ChannelFilter | null): FilterVerdict {
  if (filter === null) return { kind: 'passes', reason: 'no_filter' }
  const connectionId = connectionIdOf(alert)
  if (filter.connection_ids !== null && connectionId !== null && !filter.connection_ids.includes(connectionId)) {
    return { kind: 'filtered', reason: 'other_connection' }
  }
  const facts = actionFactsOf(alert)
  if (facts === null) return { kind: 'passes', reason: 'within_limits' }
  if (filter.kinds !== null && !filter.kinds.some(kind => facts.kinds.includes(kind))) {
    return { kind: 'filtered', reason: 'other_kind' }
  }
  return facts.amounts.every(one => isBelowMinimum(one, filter.minimum_amounts))
    ? { kind: 'filtered', reason: 'below_minimum' }
    : { kind: 'passes', reason: 'within_limits' }
}

/** False without an amount, and for a currency without a minimum: what cannot be compared must alert. */
function isBelowMinimum({ amount, currency }: Amount, minimums: ChannelFilter['minimum_amounts']): boolean {
  if (minimums === null || amount === null || currency === null) return false
  return amount < (minimums[currency] ?? 0)
}

/** Null if the alert is not about a refund or cancellation at the provider. */
function actionFactsOf(alert: Alert): ActionFacts | null {
  switch (alert.event) {
    case 'incident.opened':
    case 'incident.acknowledged':
    case 'incident.resolved':
      if (alert.data.incident.burst !== undefined) return factsOfMany(alert.data.incident.burst)
      return alert.data.action === null ? null : factsOf([alert.data.action])
    // Both, because the amounts of operation and provider may be what differs.
    case 'drift.detected':
      return factsOf([alert.data.operation, ...(alert.data.action === null ? [] : [alert.data.action])])
    case 'storm.reported':
      return factsOfMany(alert.data.storm)
    case 'approval.requested':
    case 'approval.reminder':
    case 'approval.expired':
    case 'cap.threshold':
    case 'run.failed':
    case 'channel.test':
      return null
    default:
      return alert satisfies never
  }
}

function factsOf(items: readonly (Amount & { readonly kind: string })[]): ActionFacts {
  return { kinds: items.map(({ kind }) => kind), amounts: items }
}

/** The sums of a storm or burst, because many small refunds may be a large loss. One without any sum passes. */
function factsOfMany({
  kinds,
  money,
  without_money = 0,
  count,
}: Pick<Storm, 'kinds' | 'count' | 'without_money'> & Pick<Burst, 'money'>): ActionFacts {
  const counted = money.reduce((sum, one) => sum + one.count, without_money)
  const uncounted = counted < count || money.length === 0 ? [{ amount: null, currency: null }] : []
  return { kinds: kinds.map(({ kind }) => kind), amounts: [...money, ...uncounted] }
}
