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
}

export const SAMPLES: Readonly<Record<ProviderKind, ProviderSamples>> = {
  processor: { events: PROCESSOR_EVENTS, objects: PROCESSOR_OBJECTS },
  reseller: { events: RESELLER_EVENTS, objects: RESELLER_OBJECTS },
  subscription: { events: SUBSCRIPTION_EVENTS, objects: SUBSCRIPTION_OBJECTS },
}
