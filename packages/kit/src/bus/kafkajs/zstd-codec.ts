import { promisify } from 'node:util'
import { zstdCompress, zstdDecompress } from 'node:zlib'
import kafkajs from 'kafkajs'

/** The encoder that kafkajs passes to a codec. */
interface Encoder {
  readonly buffer: Buffer
}

/**
 * Registers zstd in kafkajs, based on Node's zlib. Without the codec a single compressed batch stops the consumer
 * permanently, for example after an operator set `compression.type=zstd` on a topic.
 */
export function registerZstd(): void {
  const compress = promisify(zstdCompress)
  const decompress = promisify(zstdDecompress)
  kafkajs.CompressionCodecs[kafkajs.CompressionTypes.ZSTD] = () => ({
    compress: (encoder: Encoder) => compress(encoder.buffer),
    decompress: (bytes: Buffer) => decompress(bytes),
  })
}
