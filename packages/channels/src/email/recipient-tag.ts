import { createHash } from 'node:crypto'

/**
 * Tells the addresses of one delivery apart without showing them: in its Message-IDs, and on record. The first 12 hex
 * digits of the SHA-256 of the address in lower case.
 */
export function recipientTag(address: string): string {
  return createHash('sha256').update(address.toLowerCase()).digest('hex').slice(0, 12)
}
