import { createHmac } from 'node:crypto'

/**
 * The value of header `processor-signature` for a body. Written here on its own, from the processor's description and
 * not from our verification, so that a fault in one shows against the other.
 * @param body the exact bytes that are posted
 * @param secrets one v1 signature each, as the processor sends while a secret is being rolled
 * @param timestampS Unix time in seconds
 */
export function signProcessorEvent(body: Buffer | string, secrets: readonly string[], timestampS: number): string {
  const signatures = secrets.map(secret => {
    const digest = createHmac('sha256', secret).update(`${timestampS}.`).update(body).digest('hex')
    return `,v1=${digest}`
  })
  return `t=${timestampS}${signatures.join('')}`
}
