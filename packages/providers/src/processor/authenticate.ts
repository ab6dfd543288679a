/** Card processor (Stripe): `t=<unix s>,v1=<hex>[,v1=…][,v0=…]` over `<t>.<body>`. Only v1 is checked. */
import { timestampedSignature } from '../timestamped-signature.ts'

export const { prepareSecret, authenticate } = timestampedSignature({
  separator: ',',
  timestampName: 't',
  signatureName: 'v1',
  joint: '.',
})
