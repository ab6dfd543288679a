import { type Clock, type Logger, type MessageCodec, sleep, unavailable } from '@backstop/kit'

/** A codec that is made in the background, for as long as it takes: ingress listens and says 503 meanwhile. */
export interface LateCodec extends Pick<MessageCodec, 'schemaId'> {
  stop(): Promise<void>
}

const RETRY_MS = 1_000

/** @param make rejects while neither the registry nor MongoDB knows the schema ids */
export function createLateCodec(make: () => Promise<MessageCodec>, clock: Clock, logger: Logger): LateCodec {
  const stopping = new AbortController()
  let codec: MessageCodec | undefined
  const making = (async () => {
    while (codec === undefined && !stopping.signal.aborted) {
      try {
        codec = await make()
      } catch (error) {
        logger.warn({ error, retry_ms: RETRY_MS }, 'codec.unavailable')
        await sleep(clock, RETRY_MS, stopping.signal)
      }
    }
  })()
  return {
    schemaId(name) {
      if (codec === undefined) throw unavailable('The schema registry', undefined)
      return codec.schemaId(name)
    },
    async stop() {
      stopping.abort()
      await making
    },
  }
}
