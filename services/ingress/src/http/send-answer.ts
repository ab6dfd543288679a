import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '@backstop/kit/clock'
import { discardBody } from '@backstop/kit/http'
import type { Answer } from './answers.ts'

/** Answers a request whose body has arrived completely. */
export function sendAnswer(response: ServerResponse, answer: Answer, closing: boolean): void {
  const headers = closing ? [...answer.headers, 'connection', 'close'] : answer.headers
  // Node.js only reads the list, although its type does not say so.
  response.writeHead(answer.status, headers as string[])
  response.end(answer.body)
}

/** Answers before the body has arrived completely, and closes the connection. The whole answer is sent at once. */
export async function sendAnswerEarly(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
  clock: Clock,
): Promise<void> {
  response.writeHead(answer.status, [...answer.headers, 'connection', 'close'])
  response.write(answer.body)
  await discardBody(request, clock)
  response.end()
}
