import { objectIdentity, objectReference, type ProviderKind } from '@backstop/contracts'
import type {
  CancellationState,
  ObservedAction,
  ObservedRecord,
  ObservedRefundTotal,
  ObservedSubscription,
  PauseState,
} from '@backstop/providers'
import type { SightingSource } from '../src/case/case.ts'
import type { Input } from '../src/decide/decide.ts'
import { PROJECT, sourceOf, T0 } from './fixtures.ts'

/** Sightings of the three providers, as their normalisers return them. */

const SITES: Partial<Record<ProviderKind, string>> = { subscription: 'acme' }

function name(provider: ProviderKind, type: string, id: string, about: readonly string[]) {
  const reference = (of: string) => objectReference(PROJECT, provider, SITES[provider], of)
  return {
    provider,
    identity: objectIdentity(PROJECT, provider, SITES[provider], type, id),
    refs: [...about, id].map(reference),
    objectIds: about,
    subject: about[0] ?? id,
  }
}

const REFUND_TYPES = { processor: 'refund', reseller: 'adjustment', subscription: 'transaction' } as const

export type RefundShown = Partial<Omit<ObservedAction, 'kind' | 'action' | 'objectIds'>> & {
  readonly about?: readonly string[]
}

/** A refund at any provider. By default EUR 24.99, made at T0, succeeded. */
export function refundShown(shown: RefundShown = {}): ObservedAction {
  const { provider = 'processor', providerRef = 're_1', gatewayRefs = [], about = ['pi_1'], ...more } = shown
  const naming = name(provider, REFUND_TYPES[provider], providerRef, about)
  const atGateway = gatewayRefs.map(id => objectReference(PROJECT, 'processor', undefined, id))
  return {
    kind: 'action',
    action: 'refund',
    ...naming,
    refs: [...naming.refs, ...atGateway],
    providerRef,
    gatewayRefs,
    amount: 2499,
    currency: 'eur',
    state: 'succeeded',
    stateVersion: null,
    createdAt: T0,
    idempotencyKey: null,
    ...more,
  }
}

/** The refunded total of a charge at a time, and the total before it. */
export function totalShown(
  total: number,
  totalBefore: number | null,
  observedAt: number,
  chargeCreatedAt: number | null,
): ObservedRefundTotal {
  const charge = { chargeId: 'ch_1', chargeCreatedAt, total, totalBefore, currency: 'eur', observedAt }
  return {
    kind: 'refund_total',
    ...name('processor', 'charge', 'ch_1', ['pi_1', 'ch_1']),
    ...charge,
    idempotencyKey: null,
  }
}

/** A dispute, credit or reversal. */
export function recordShown(record: ObservedRecord['record'], providerRef = 'adj_9'): ObservedRecord {
  return {
    kind: 'record',
    record,
    ...name('reseller', 'adjustment', providerRef, ['txn_1']),
    providerRef,
    amount: 500,
    currency: 'eur',
    state: 'succeeded',
    stateVersion: T0,
    createdAt: T0,
  }
}

export interface SubscriptionShown {
  readonly provider?: ProviderKind
  readonly id?: string
  readonly asOf?: number
  readonly cancellation?: Partial<CancellationState>
  readonly pause?: Partial<PauseState>
  readonly before?: ObservedSubscription['before']
  readonly isPastDue?: boolean
  readonly idempotencyKey?: string | null
  readonly requestId?: string
}

/** A subscription at any provider. By default it is active, without a scheduled end. */
export function subscriptionShown(shown: SubscriptionShown = {}): ObservedSubscription {
  const { provider = 'processor', id = 'sub_1', asOf = T0 } = shown
  return {
    kind: 'subscription',
    ...name(provider, 'subscription', id, [id]),
    asOf,
    cancellation: {
      phase: 'none',
      requestedAt: null,
      effectiveAt: null,
      cause: 'requested',
      detail: null,
      ...shown.cancellation,
    },
    pause: { phase: 'none', effectiveAt: null, ...shown.pause },
    before: shown.before ?? null,
    ...(shown.isPastDue === undefined ? {} : { isPastDue: shown.isPastDue }),
    idempotencyKey: shown.idempotencyKey ?? null,
    ...(shown.requestId === undefined ? {} : { requestId: shown.requestId }),
  }
}

/** A subscription with a cancellation that was requested at `requestedAt` for a month later. */
export function scheduledCancellation(requestedAt: number | null, shown: SubscriptionShown = {}): ObservedSubscription {
  const effectiveAt = (requestedAt ?? shown.asOf ?? T0) + 30 * 86_400_000
  const cancellation = { phase: 'scheduled', requestedAt, effectiveAt, ...shown.cancellation } as const
  return subscriptionShown({ asOf: requestedAt ?? T0, ...shown, cancellation })
}

/** A subscription that has ended. */
export function endedSubscription(requestedAt: number | null, shown: SubscriptionShown = {}): ObservedSubscription {
  const asOf = shown.asOf ?? requestedAt ?? T0
  const cancellation = { phase: 'executed', requestedAt, effectiveAt: asOf, ...shown.cancellation } as const
  return subscriptionShown({ ...shown, asOf, cancellation })
}

type Shown = Extract<Input, { kind: 'sighting' }>['sighting']

/** A sighting in an event, or in a re-read. */
export function sightingInput(sighting: Shown, source: Partial<SightingSource> = {}): Input {
  const eventId = `evt_${sighting.identity}_${'asOf' in sighting ? sighting.asOf : sighting.kind}`
  return { kind: 'sighting', sighting, source: sourceOf(eventId, `${sighting.kind}.shown`, source) }
}

/** A sighting in the baseline of a new connection. */
export function baselineInput(sighting: Shown, source: Partial<SightingSource> = {}): Input {
  return sightingInput(sighting, { eventId: null, eventType: 'baseline', readFor: 'baseline', ...source })
}
