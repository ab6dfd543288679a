import { createHash } from 'node:crypto'

/**
 * Identifies an address within a delivery without revealing it, in Message-IDs and stored records: the first 12 hex
 * digits of the SHA-256 of the lower-case address.
 */
export function recipientTag(address: string): string {
  return createHash('sha256').update(address.toLowerCase()).digest('hex').slice(0, 12)
}
