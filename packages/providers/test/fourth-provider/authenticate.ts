/** `t=<unix s>,s=<hex>` over `<t>.<body>`. */
import { timestampedSignature } from '../../src/timestamped-signature.ts'

export const { prepareSecret, authenticate } = timestampedSignature({
  separator: ',',
  timestampName: 't',
  signatureName: 's',
  joint: '.',
})
