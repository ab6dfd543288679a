import type { Clock } from '@backstop/kit/clock'
import { isRetryable, unavailable } from '@backstop/kit/errors'
import type { Logger } from '@backstop/kit/logger'
import type { MessageCodec } from '@backstop/kit/registry'
import { untilAvailable } from '@backstop/kit/retry'

/** A codec that is opened in the background. Until it is open, ingress listens and answers 503. */
export interface BackgroundCodec extends Pick<MessageCodec, 'schemaId'> {
  stop(): Promise<void>
}

const LONGEST_PAUSE_MS = 1_000

/** @param open rejects until the registry or MongoDB provides the schema ids. It is called again after every error. */
export function createBackgroundCodec(
  open: () => Promise<MessageCodec>,
  clock: Clock,
  logger: Logger,
): BackgroundCodec {
  const stopping = new AbortController()
  const { signal } = stopping
  let codec: MessageCodec | undefined
  const openOrRetry = async () => {
    try {
      return await open()
    } catch (error) {
      throw isRetryable(error) ? error : unavailable('The schema registry', error)
    }
  }
  const opening = untilAvailable(openOrRetry, {
    clock,
    signal,
    longestPauseMs: LONGEST_PAUSE_MS,
    onFailure: (error, retry_ms) => logger.warn({ error, retry_ms }, 'codec.unavailable'),
  }).then(
    opened => {
      codec = opened
    },
    error => {
      if (!signal.aborted) throw error
    },
  )
  return {
    schemaId(name) {
      if (codec === undefined) throw unavailable('The schema registry', undefined)
      return codec.schemaId(name)
    },
    async stop() {
      stopping.abort()
      await opening
    },
  }
}
