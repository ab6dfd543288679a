/** The events of the three providers, with their ids and types. */

import type { BillerEvent } from '../biller/events.ts'
import type { ProcessorEvent } from '../processor/events.ts'
import { type ThinEvent, thinEventOf } from '../processor/thin-events.ts'
import type { ResellerEvent } from '../reseller/events.ts'

export type ProviderKind = 'processor' | 'reseller' | 'subscription'

export interface ProviderEvents {
  processor: ProcessorEvent
  reseller: ResellerEvent
  subscription: BillerEvent
}

/** What an endpoint at the processor is sent: events with their object, thin events without it, or both. */
export type Payload = 'snapshot' | 'thin' | 'both'

/** An event in the forms that its endpoint is sent. */
export function formsOf(event: ProviderEvents[ProviderKind], payload: Payload): (typeof event | ThinEvent)[] {
  if (payload === 'snapshot' || !('object' in event) || !('request' in event)) return [event]
  const thin = thinEventOf(event)
  return payload === 'thin' ? [thin] : [event, thin]
}

/** An event's id and type, from the provider's own fields. */
export function nameOf(event: ProviderEvents[ProviderKind] | ThinEvent): { id: string; type: string } {
  if ('event_id' in event) return { id: event.event_id, type: event.event_type }
  return { id: event.id, type: 'event_type' in event ? event.event_type : event.type }
}

/**
 * True if a provider treats an answer as accepted and does not retry: any 2xx at the processor, only 200 at reseller and biller.
 */
export function isAccepted(kind: ProviderKind, status: number): boolean {
  return kind === 'processor' ? status >= 200 && status < 300 : status === 200
}
