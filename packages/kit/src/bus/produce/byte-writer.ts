const FIRST_BYTES = 262_144
const TWO_POW_32 = 2 ** 32

/**
 * Writes the primitive types of Kafka's protocol (https://kafka.apache.org/protocol#protocol_types) into one buffer, which is reused and
 * grows to the largest content. Call `reserve` before writing; the other methods do not check the space.
 */
export class ByteWriter {
  bytes: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES)
  /** Where the next byte goes. */
  at = 0

  /** Makes room for this many more bytes. */
  reserve(count: number): void {
    const needed = this.at + count
    if (needed <= this.bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.bytes.length * 2))
    this.bytes.copy(larger, 0, 0, this.at)
    this.bytes = larger
  }

  int8(value: number): void {
    this.bytes[this.at] = value
    this.at += 1
  }

  int16(value: number): void {
    this.at = this.bytes.writeInt16BE(value, this.at)
  }

  int32(value: number): void {
    this.at = this.bytes.writeInt32BE(value, this.at)
  }

  /** @param value an integer that a number holds exactly */
  int64(value: number): void {
    this.at = this.bytes.writeInt32BE(Math.floor(value / TWO_POW_32) | 0, this.at)
    this.at = this.bytes.writeInt32BE(value | 0, this.at)
  }

  /** A signed number in zigzag encoding, seven bits to a byte. @param value between -2^30 and 2^30 */
  varint(value: number): void {
    let rest = (value << 1) ^ (value >> 31)
    while (rest > 0x7f) {
      this.int8((rest & 0x7f) | 0x80)
      rest >>>= 7
    }
    this.int8(rest)
  }

  text(value: string): void {
    this.at += this.bytes.write(value, this.at)
  }

  copyOf(value: Uint8Array): void {
    this.bytes.set(value, this.at)
    this.at += value.length
  }
}

/** The number of bytes that `varint` writes. */
export function varintBytes(value: number): number {
  const zigzag = (value << 1) ^ (value >> 31)
  let count = 1
  for (let rest = zigzag >>> 7; rest > 0; rest >>>= 7) count += 1
  return count
}
