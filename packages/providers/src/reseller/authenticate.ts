/**
 * Reseller (Paddle Billing): `ts=<unix s>;h1=<hex>[;h1=…]` over `<ts>:<body>`, with one h1 for each active secret. Every h1 is
 * compared with every secret, as in the Python and PHP SDKs; the Node SDK uses only the last h1, the Go SDK only one.
 */
import type { AuthenticationRequest, AuthenticationResult, InboundCredential } from '../provider.ts'
import { authenticateSignature, prepareSigningKey, type SignatureScheme } from '../timestamped-signature.ts'

const RESELLER_SCHEME: SignatureScheme = {
  separator: ';',
  timestampName: 'ts',
  signatureName: 'h1',
  joint: ':',
}

/** Prepares the secret key of a notification destination. */
export const prepareSecret = prepareSigningKey

/** Checks the signature of a notification. */
export function authenticate(
  request: AuthenticationRequest,
  secrets: readonly InboundCredential[],
): AuthenticationResult {
  return authenticateSignature(RESELLER_SCHEME, request, secrets)
}
