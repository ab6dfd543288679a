import { promisify } from 'node:util'
import { zstdCompress, zstdDecompress } from 'node:zlib'
import kafkajs from 'kafkajs'

/** What kafkajs hands a codec to compress: its encoder around the records. */
interface Encoder {
  readonly buffer: Buffer
}

/**
 * Teaches kafkajs zstd by Node's own zlib. Without a codec one compressed batch, e.g. after an operator set
 * `compression.type=zstd` on a topic, stops the consumer for good.
 */
export function registerZstd(): void {
  const compress = promisify(zstdCompress)
  const decompress = promisify(zstdDecompress)
  kafkajs.CompressionCodecs[kafkajs.CompressionTypes.ZSTD] = () => ({
    compress: (encoder: Encoder) => compress(encoder.buffer),
    decompress: (bytes: Buffer) => decompress(bytes),
  })
}
