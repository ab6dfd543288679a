import { promisify } from 'node:util'
import { gunzipSync, gzip, zstdCompress, zstdDecompress } from 'node:zlib'
import kafkajs from 'kafkajs'

/** The encoder that kafkajs passes to a codec. */
interface Encoder {
  readonly buffer: Buffer
}

/**
 * Registers the codecs of compressed batches in kafkajs, based on Node's zlib. Our producers compress with gzip (`writeRecordBatch`). Batches
 * are decompressed in this thread, because a thread of the pool costs several times as much as a batch of a few messages.
 * Without zstd a single such batch stops the consumer permanently, for example after an operator set `compression.type=zstd` on a topic.
 */
export function registerCodecs(): void {
  const { CompressionCodecs: codecs, CompressionTypes: types } = kafkajs
  const compressGzip = promisify<Buffer, Buffer>(gzip)
  const compressZstd = promisify(zstdCompress)
  const decompressZstd = promisify(zstdDecompress)
  codecs[types.GZIP] = () => ({
    compress: (encoder: Encoder) => compressGzip(encoder.buffer),
    decompress: async (bytes: Buffer) => gunzipSync(bytes),
  })
  codecs[types.ZSTD] = () => ({
    compress: (encoder: Encoder) => compressZstd(encoder.buffer),
    decompress: (bytes: Buffer) => decompressZstd(bytes),
  })
}
