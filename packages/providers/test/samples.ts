import type { ProviderKind } from '@backstop/contracts'
import { PROCESSOR_EVENTS, PROCESSOR_OBJECTS } from '../src/processor/samples/index.ts'
import { RESELLER_EVENTS, RESELLER_OBJECTS } from '../src/reseller/samples/index.ts'
import { SUBSCRIPTION_EVENTS, SUBSCRIPTION_OBJECTS } from '../src/subscription/samples/index.ts'

/** What a provider sends and shows, in its real shape. */
export interface ProviderSamples {
  /** One event of each type that means something, by its type. */
  readonly events: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /** One object of each type that means something, by the provider's own name of the type. */
  readonly objects: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /**
   * The fields of an event without which it says nothing that can be recorded, or something else. With everything else odd
   * or absent it still tells of the same object.
   */
  readonly decisive: RegExp
}

export const SAMPLES: Readonly<Record<ProviderKind, ProviderSamples>> = {
  processor: {
    events: PROCESSOR_EVENTS,
    objects: PROCESSOR_OBJECTS,
    // The event's own time orders the states of a subscription and the totals of a charge, which carry none.
    decisive:
      /^(created|data(\.object(\.(id|object|amount|currency|created|amount_refunded|status|cancel_at|cancel_at_period_end|pause_collection|end_behavior|subscription|released_subscription))?)?)$/,
  },
  reseller: {
    events: RESELLER_EVENTS,
    objects: RESELLER_OBJECTS,
    decisive: /^data(\.(id|action|status|currency_code|totals(\.total)?|scheduled_change(\.action)?))?$/,
  },
  subscription: {
    events: SUBSCRIPTION_EVENTS,
    objects: SUBSCRIPTION_OBJECTS,
    decisive: /^content(\.(transaction|credit_note|subscription)(\.id)?)?$/,
  },
}
