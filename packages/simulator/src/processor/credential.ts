import { createHmac } from 'node:crypto'

/**
 * The value of header `processor-signature` for a body. Written from the processor's documentation and not from the product's
 * verification, so that an error in one shows in the other.
 * @param body the exact bytes that are posted
 * @param secrets one v1 signature each, as the processor sends during a rotation
 * @param timestampS Unix time in seconds
 */
export function signProcessorEvent(body: Buffer | string, secrets: readonly string[], timestampS: number): string {
  const signatures = secrets.map(secret => {
    const digest = createHmac('sha256', secret).update(`${timestampS}.`).update(body).digest('hex')
    return `,v1=${digest}`
  })
  return `t=${timestampS}${signatures.join('')}`
}
