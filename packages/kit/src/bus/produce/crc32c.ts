/**
 * CRC-32C (Castagnoli, RFC 3720 appendix B.4), the checksum of a record batch. Eight bytes are processed at once with eight tables
 * ("slicing-by-8": Kounavis and Berry, "A Systematic Approach to Building High Performance Software-based CRC Generators", 2005).
 * kafkajs processes one byte at once. Node's zlib has only the other CRC-32.
 */
const REVERSED_POLYNOMIAL = 0x82f63b78
const SLICES = 8

/** Table n at `n * 256 + byte`: the effect of a byte that is followed by n more bytes. */
const TABLES = createTables()

function createTables(): Int32Array {
  const tables = new Int32Array(SLICES * 256)
  for (let byte = 0; byte < 256; byte += 1) {
    let crc = byte
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ REVERSED_POLYNOMIAL : crc >>> 1
    tables[byte] = crc
  }
  for (let at = 256; at < tables.length; at += 1) {
    const before = tables[at - 256]!
    tables[at] = (before >>> 8) ^ tables[before & 0xff]!
  }
  return tables
}

/** The checksum of the bytes from `start` up to `end`, as an unsigned number. */
export function crc32c(bytes: Uint8Array, start: number, end: number): number {
  let crc = -1
  let at = start
  for (const lastEight = end - SLICES; at <= lastEight; at += SLICES) {
    crc ^= bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
    crc =
      TABLES[1792 + (crc & 0xff)]! ^
      TABLES[1536 + ((crc >>> 8) & 0xff)]! ^
      TABLES[1280 + ((crc >>> 16) & 0xff)]! ^
      TABLES[1024 + (crc >>> 24)]! ^
      TABLES[768 + bytes[at + 4]!]! ^
      TABLES[512 + bytes[at + 5]!]! ^
      TABLES[256 + bytes[at + 6]!]! ^
      TABLES[bytes[at + 7]!]!
  }
  for (; at < end; at += 1) crc = (crc >>> 8) ^ TABLES[(crc ^ bytes[at]!) & 0xff]!
  return ~crc >>> 0
}
