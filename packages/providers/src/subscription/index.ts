import type { Provider } from '../provider.ts'
import { authenticate, prepareSecret } from './authenticate.ts'
import { identify } from './identify.ts'

export const subscription: Provider = {
  kind: 'subscription',
  credentialHeaders: ['authorization'],
  prepareSecret,
  authenticate,
  identify,
}
