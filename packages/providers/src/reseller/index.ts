import { EVENTS_TO_TICK } from '@backstop/client/setup-steps'
import type { Provider } from '../provider.ts'
import { authenticate, prepareSecret } from './authenticate.ts'
import { identify } from './identify.ts'
import { normaliseEvent, normaliseObject } from './normalise.ts'
import { readBack } from './read-back.ts'

/** The reseller (Paddle Billing). */
export const reseller: Provider = {
  kind: 'reseller',
  credentialHeaders: ['reseller-signature', 'paddle-signature'],
  subscribedEvents: EVENTS_TO_TICK.reseller,
  requesterFields: { names: [], within: 'top' },
  prepareSecret,
  authenticate,
  identify,
  normaliseEvent,
  normaliseObject,
  readBack,
}
