import { announcedLength, type Clock, discardBody } from '@backstop/kit'
import type { Response } from 'express'

/**
 * Ends an answer whose status and headers are set. Where the body of the request has not arrived whole, the answer goes out at
 * once, a bounded rest of the body is dropped, and the connection is closed: nobody keeps it open by sending on.
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
