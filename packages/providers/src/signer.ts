import { hash } from 'node:crypto'

/** Computes the HMAC-SHA256 of a prefix of ASCII characters and a body, in hex. It hides its key. */
export type Signer = (prefix: string, body: Uint8Array) => string

/** The size of a block of SHA-256, in bytes. A longer key is replaced by its digest. */
const BLOCK_BYTES = 64
const DIGEST_BYTES = 32

/** Holds the message of one inner digest at a time, and grows to the largest. */
let message = Buffer.allocUnsafeSlow(8_192)

/**
 * HMAC (RFC 2104) by two digests, each in one call. createHmac of node:crypto makes an object outside of the heap for each signature,
 * which costs more than the digest of a notification.
 */
export function createSigner(key: Uint8Array): Signer {
  const inner = Buffer.alloc(BLOCK_BYTES, 0x36)
  const outer = Buffer.alloc(BLOCK_BYTES + DIGEST_BYTES, 0x5c)
  const short = key.length > BLOCK_BYTES ? hash('sha256', key, 'buffer') : key
  for (const [at, byte] of short.entries()) {
    inner[at]! ^= byte
    outer[at]! ^= byte
  }
  return (prefix, body) => {
    const bodyAt = BLOCK_BYTES + prefix.length
    const end = bodyAt + body.length
    if (end > message.length) message = Buffer.allocUnsafeSlow(2 * end)
    message.set(inner)
    message.write(prefix, BLOCK_BYTES, 'latin1')
    message.set(body, bodyAt)
    // As text, because a digest as a Buffer is an object outside of the heap, too.
    outer.write(hash('sha256', message.subarray(0, end), 'latin1'), BLOCK_BYTES, 'latin1')
    return hash('sha256', outer, 'hex')
  }
}
