import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '@backstop/kit'
import type { Answer } from './answers.ts'

/** How much of an unwanted body is thrown away, and for how long, before the connection is cut. */
const DISCARD_BYTES = 8 * 1_048_576
const DISCARD_MS = 2_000

/** Answers a request whose body has been read whole. */
export function sendAnswer(response: ServerResponse, answer: Answer, closing: boolean): void {
  const headers = closing ? [...answer.headers, 'connection', 'close'] : [...answer.headers]
  response.writeHead(answer.status, headers)
  response.end(answer.body)
}

/**
 * Answers before the body is there, and closes the connection. The answer goes out whole at once; a bounded rest of the
 * body is read and thrown away before the close, because closing on unread bytes resets the connection, and the client
 * would see the reset instead of the answer.
 */
export function sendAnswerEarly(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
  clock: Clock,
): Promise<void> {
  response.writeHead(answer.status, [...answer.headers, 'connection', 'close'])
  response.write(answer.body)
  return new Promise(resolve => {
    let discarded = 0
    const finish = () => {
      cancel()
      request.off('data', onData).off('end', finish).off('close', finish).off('error', finish)
      response.end()
      resolve()
    }
    const onData = (chunk: Buffer) => {
      discarded += chunk.length
      if (discarded > DISCARD_BYTES) finish()
    }
    const cancel = clock.schedule(DISCARD_MS, finish)
    if (request.readableEnded || request.destroyed) return finish()
    request.on('data', onData).on('end', finish).on('close', finish).on('error', finish)
    request.resume()
  })
}
