import { createHmac } from 'node:crypto'

/**
 * The value of the header `reseller-signature` for a body.
 * @param body the exact bytes that are posted
 * @param secrets one h1 signature each; several while a secret is being rotated
 * @param timestampS Unix time in seconds
 */
export function signResellerEvent(body: Buffer | string, secrets: readonly string[], timestampS: number): string {
  const signatures = secrets.map(secret => {
    const digest = createHmac('sha256', secret).update(`${timestampS}:`).update(body).digest('hex')
    return `;h1=${digest}`
  })
  return `ts=${timestampS}${signatures.join('')}`
}
