/**
 * Reseller (Paddle Billing): `ts=<unix s>;h1=<hex>[;h1=…]` over `<ts>:<body>`, with one h1 for each active secret. Every h1 is
 * compared with every secret, as in the Python and PHP SDKs; the Node SDK uses only the last h1, the Go SDK only one.
 */
import { timestampedSignature } from '../timestamped-signature.ts'

export const { prepareSecret, authenticate } = timestampedSignature({
  separator: ';',
  timestampName: 'ts',
  signatureName: 'h1',
  joint: ':',
})
