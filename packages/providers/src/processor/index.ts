import type { Provider } from '../provider.ts'
import { authenticate, prepareSecret } from './authenticate.ts'
import { identify } from './identify.ts'

export const processor: Provider = {
  kind: 'processor',
  credentialHeaders: ['processor-signature', 'stripe-signature'],
  prepareSecret,
  authenticate,
  identify,
}
