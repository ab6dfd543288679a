import type { Clock } from '@backstop/kit/clock'
import { announcedLength, discardBody } from '@backstop/kit/http'
import type { Response } from 'express'

/**
 * Ends an answer whose status and headers are set. If the request body has not arrived completely, the answer is sent at once, a limited
 * rest of the body is discarded and the connection is closed, so a client cannot keep it open by sending more.
 */
export function endAnswer(response: Response, body: string | Buffer | undefined, clock: Clock): void {
  const { req: request } = response
  if (request.complete || announcedLength(request) === 0) {
    response.end(body)
    return
  }
  const bytes = Buffer.from(body ?? '')
  response.set({ connection: 'close', 'content-length': String(bytes.length) })
  response.flushHeaders()
  if (bytes.length > 0) response.write(bytes)
  discardBody(request, clock).then(
    () => response.end(),
    () => response.destroy(),
  )
}
