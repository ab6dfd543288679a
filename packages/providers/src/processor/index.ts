import type { Provider } from '../provider.ts'
import { authenticate, prepareSecret } from './authenticate.ts'
import { identify } from './identify.ts'
import { normaliseEvent, normaliseObject } from './normalise.ts'
import { readBack } from './read-back.ts'

/** The card processor (Stripe). */
export const processor: Provider = {
  kind: 'processor',
  credentialHeaders: ['processor-signature', 'stripe-signature'],
  subscribedEvents: [
    'refund.created',
    'refund.updated',
    'charge.refunded',
    'customer.subscription.updated',
    'customer.subscription.deleted',
  ],
  prepareSecret,
  authenticate,
  identify,
  normaliseEvent,
  normaliseObject,
  readBack,
}
