import { createHash } from 'node:crypto'

/**
 * Identifies an address within a delivery, in Message-IDs and in stored records, without showing it: the first 12 hex digits of
 * the SHA-256 of the address in lower case.
 */
export function recipientTag(address: string): string {
  return createHash('sha256').update(address.toLowerCase()).digest('hex').slice(0, 12)
}
