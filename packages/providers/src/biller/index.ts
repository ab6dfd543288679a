import { EVENTS_TO_TICK } from '@backstop/client/setup-steps'
import type { Provider } from '../provider.ts'
import { authenticate, prepareSecret } from './authenticate.ts'
import { identify } from './identify.ts'
import { normaliseEvent, normaliseObject } from './normalise.ts'
import { readBack } from './read-back.ts'

/** The subscription biller (Chargebee). */
export const biller: Provider = {
  kind: 'subscription',
  credentialHeaders: ['authorization'],
  subscribedEvents: EVENTS_TO_TICK.subscription,
  requesterFields: { names: ['user', 'origin_user'], within: 'top' },
  prepareSecret,
  authenticate,
  identify,
  normaliseEvent,
  normaliseObject,
  readBack,
}
