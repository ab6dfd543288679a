import type { Provider } from '../../src/provider.ts'
import { authenticate, prepareSecret } from './authenticate.ts'
import { identify } from './identify.ts'
import { KIND } from './kind.ts'
import { normaliseEvent, normaliseObject } from './normalise.ts'
import { readBack } from './read-back.ts'

export const wallet: Provider = {
  kind: KIND,
  credentialHeaders: ['wallet-signature'],
  subscribedEvents: ['return.made', 'return.paid', 'plan.changed'],
  requesterFields: { names: [], within: 'top' },
  prepareSecret,
  authenticate,
  identify,
  normaliseEvent,
  normaliseObject,
  readBack,
}
