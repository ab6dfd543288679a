/** Card processor (Stripe): `t=<unix s>,v1=<hex>[,v1=…][,v0=…]` over `<t>.<body>`. Only v1 is checked. */
import type { AuthenticationRequest, AuthenticationResult, InboundCredential } from '../provider.ts'
import { authenticateSignature, prepareSigningKey, type SignatureScheme } from '../timestamped-signature.ts'

const PROCESSOR_SCHEME: SignatureScheme = {
  separator: ',',
  timestampName: 't',
  signatureName: 'v1',
  joint: '.',
}

/** Prepares a signing secret. */
export const prepareSecret = prepareSigningKey

/** Checks the signature of a notification. */
export function authenticate(
  request: AuthenticationRequest,
  secrets: readonly InboundCredential[],
): AuthenticationResult {
  return authenticateSignature(PROCESSOR_SCHEME, request, secrets)
}
