import type { IncomingMessage } from 'node:http'
import type { Clock } from '../clock/clock.ts'

/** Limits for reading and discarding the rest of a refused body. */
const DISCARD_BYTES = 8 * 1_048_576
const DISCARD_MS = 2_000

/**
 * Reads and discards the rest of a body, within limits. Await it between the answer and the close of the connection:
 * closing with unread bytes resets the connection, and the client would see the reset instead of the answer.
 */
export function discardBody(request: IncomingMessage, clock: Clock): Promise<void> {
  return new Promise(resolve => {
    if (request.readableEnded || request.destroyed) return resolve()
    let discarded = 0
    const finish = () => {
      cancel()
      request.off('data', onData).off('end', finish).off('close', finish).off('error', finish)
      resolve()
    }
    const onData = (chunk: Buffer) => {
      discarded += chunk.length
      if (discarded > DISCARD_BYTES) finish()
    }
    const cancel = clock.schedule(DISCARD_MS, finish)
    request.on('data', onData).on('end', finish).on('close', finish).on('error', finish)
    request.resume()
  })
}
