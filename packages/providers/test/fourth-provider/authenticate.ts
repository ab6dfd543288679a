/** `t=<unix s>,s=<hex>` over `<t>.<body>`. */
import type { AuthenticationRequest, AuthenticationResult, InboundCredential } from '../../src/provider.ts'
import { authenticateSignature, prepareSigningKey, type SignatureScheme } from '../../src/timestamped-signature.ts'

const SCHEME: SignatureScheme = { separator: ',', timestampName: 't', signatureName: 's', joint: '.' }

export const prepareSecret = prepareSigningKey

export function authenticate(
  request: AuthenticationRequest,
  secrets: readonly InboundCredential[],
): AuthenticationResult {
  return authenticateSignature(SCHEME, request, secrets)
}
