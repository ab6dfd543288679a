import { EVENTS_TO_TICK } from '@backstop/client/setup-steps'
import type { Provider } from '../provider.ts'
import { authenticate, prepareSecret } from './authenticate.ts'
import { identify } from './identify.ts'
import { EVENTS, normaliseEvent, normaliseObject } from './normalise.ts'
import { readBack } from './read-back.ts'
import { thinType } from './thin-event.ts'

/** The card processor (Stripe). */
export const processor: Provider = {
  kind: 'processor',
  credentialHeaders: ['processor-signature', 'stripe-signature'],
  subscribedEvents: EVENTS_TO_TICK.processor,
  thinEvents: [...EVENTS.keys()].map(thinType),
  requesterFields: { names: ['dashboard_user'], within: 'body' },
  prepareSecret,
  authenticate,
  identify,
  normaliseEvent,
  normaliseObject,
  readBack,
}
