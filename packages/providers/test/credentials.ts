import { Secret } from '@backstop/kit/config'
import type { InboundCredential, Provider } from '../src/provider.ts'

/** Prepares a usable secret. @throws Error if the provider refuses the secret */
export function prepareUsable(provider: Pick<Provider, 'prepareSecret'>, secret: string): InboundCredential {
  const result = provider.prepareSecret(new Secret(secret))
  if (result.kind === 'unusable') throw new Error(`The test's secret is unusable: ${result.reason}`)
  return result.credential
}
