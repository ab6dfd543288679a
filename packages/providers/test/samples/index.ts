import type { ProviderKind } from '@backstop/contracts'
import { BILLER_EVENTS, BILLER_OBJECTS } from './biller.ts'
import { PROCESSOR_EVENTS, PROCESSOR_OBJECTS } from './processor.ts'
import { RESELLER_EVENTS, RESELLER_OBJECTS } from './reseller.ts'

/** Sample events and objects of a provider, in their real form. */
export interface ProviderSamples {
  /** One event of each type that is judged or recorded, by its type. */
  readonly events: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /** One object of each type that is judged or recorded, by the provider's own name of the type. */
  readonly objects: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /**
   * The paths of the fields that decide the meaning of an event. If any other field is odd or absent, the event still has the
   * same identity.
   */
  readonly decisive: RegExp
}

export const SAMPLES: Readonly<Record<ProviderKind, ProviderSamples>> = {
  processor: {
    events: PROCESSOR_EVENTS,
    objects: PROCESSOR_OBJECTS,
    // The time of the event is decisive, because subscriptions and the totals of charges have no version of their own.
    decisive:
      /^(created|data(\.object(\.(id|object|amount|currency|created|amount_refunded|status|cancel_at|cancel_at_period_end|pause_collection|end_behavior|subscription|released_subscription))?)?)$/,
  },
  reseller: {
    events: RESELLER_EVENTS,
    objects: RESELLER_OBJECTS,
    decisive: /^data(\.(id|action|status|currency_code|totals(\.total)?|scheduled_change(\.action)?))?$/,
  },
  subscription: {
    events: BILLER_EVENTS,
    objects: BILLER_OBJECTS,
    decisive: /^content(\.(transaction|credit_note|subscription)(\.id)?)?$/,
  },
}
