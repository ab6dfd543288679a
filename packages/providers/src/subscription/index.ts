import type { Provider } from '../provider.ts'
import { authenticate, prepareSecret } from './authenticate.ts'
import { identify } from './identify.ts'
import { normaliseEvent, normaliseObject } from './normalise.ts'
import { readBack } from './read-back.ts'

/** The subscription biller (Chargebee). */
export const subscription: Provider = {
  kind: 'subscription',
  credentialHeaders: ['authorization'],
  subscribedEvents: [
    'credit_note_created',
    'payment_refunded',
    'subscription_cancellation_scheduled',
    'subscription_cancelled',
    'subscription_scheduled_cancellation_removed',
    'subscription_paused',
    'subscription_pause_scheduled',
    'subscription_resumed',
    'subscription_scheduled_pause_removed',
    'subscription_changed',
  ],
  prepareSecret,
  authenticate,
  identify,
  normaliseEvent,
  normaliseObject,
  readBack,
}
