/**
 * Reseller (Paddle Billing): `ts=<unix s>;h1=<hex>[;h1=…]` over `<ts>:<body>`. Several h1 are one per active secret, and
 * every one is tried against every secret, as the Python and PHP SDKs do; node keeps only the last, Go takes only one.
 */
import type { AuthenticationRequest, AuthenticationResult, InboundCredential } from '../provider.ts'
import { authenticateSignature, prepareSigningKey, type SignatureScheme } from '../timestamped-signature.ts'

const RESELLER_SCHEME: SignatureScheme = {
  separator: ';',
  timestampName: 'ts',
  signatureName: 'h1',
  joint: ':',
}

export const prepareSecret = prepareSigningKey

export function authenticate(
  request: AuthenticationRequest,
  secrets: readonly InboundCredential[],
): AuthenticationResult {
  return authenticateSignature(RESELLER_SCHEME, request, secrets)
}
