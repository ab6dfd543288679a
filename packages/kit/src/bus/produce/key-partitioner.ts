import type { ICustomPartitioner } from 'kafkajs'

const SEED = 0x9747b28c
const M = 0x5bd1e995
const R = 24

/**
 * Chooses the partition by the key, as kafkajs's DefaultPartitioner and Kafka's Java client do, so that a key keeps its partition. It
 * computes in 32-bit numbers; kafkajs computes every step in BigInt. Every message of the bus has a key.
 */
export const keyPartitioner: ICustomPartitioner =
  () =>
  ({ partitionMetadata, message }) =>
    (murmur2(Buffer.from(message.key as string)) & 0x7fffffff) % partitionMetadata.length

/** MurmurHash2 of Kafka (`Utils.murmur2` of its Java client), as a signed number. */
export function murmur2(bytes: Uint8Array): number {
  const { length } = bytes
  const whole = length & ~3
  let hash = SEED ^ length
  for (let at = 0; at < whole; at += 4) {
    const word = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
    const mixed = Math.imul(word, M)
    hash = Math.imul(hash, M) ^ Math.imul(mixed ^ (mixed >>> R), M)
  }
  if (whole < length) {
    for (let at = length - 1; at >= whole; at -= 1) hash ^= bytes[at]! << (8 * (at - whole))
    hash = Math.imul(hash, M)
  }
  hash = Math.imul(hash ^ (hash >>> 13), M)
  return hash ^ (hash >>> 15)
}
