import { MAX_MESSAGE_BYTES, TOPICS } from '@backstop/contracts'
import { AppError } from '../errors.ts'
import type { OutgoingMessage } from './bus.ts'

/** What the broker adds to a record around key, value and headers is below this. */
const RECORD_OVERHEAD_BYTES = 128

/**
 * How much goes into one produce request: kafkajs makes one record batch per partition of it, and a batch beyond the
 * topic's max.message.bytes is refused whole, so that requests stay well below.
 */
const REQUEST_BYTES = 1_048_576

function sizeOf(message: OutgoingMessage): number {
  let bytes = RECORD_OVERHEAD_BYTES + Buffer.byteLength(message.key) + (message.value?.length ?? 0)
  for (const [name, value] of Object.entries(message.headers)) bytes += name.length + value.length + 4
  return bytes
}

/**
 * Splits messages into requests, in order, none larger than any topic accepts.
 * @throws AppError `message_invalid` when a single message is larger than its topic accepts
 */
export function planRequests(messages: readonly OutgoingMessage[]): OutgoingMessage[][] {
  const requests: OutgoingMessage[][] = []
  let request: OutgoingMessage[] = []
  let requestBytes = 0
  for (const message of messages) {
    const bytes = sizeOf(message)
    const limit = TOPICS[message.topic]?.maxMessageBytes ?? MAX_MESSAGE_BYTES
    if (bytes > limit) {
      throw new AppError(
        'message_invalid',
        `A message of ${bytes} bytes exceeds the limit of ${message.topic} (${limit})`,
      )
    }
    if (request.length > 0 && requestBytes + bytes > REQUEST_BYTES) {
      requests.push(request)
      request = []
      requestBytes = 0
    }
    request.push(message)
    requestBytes += bytes
  }
  if (request.length > 0) requests.push(request)
  return requests
}
