import { MAX_MESSAGE_BYTES, TOPICS } from '@backstop/contracts'
import { AppError } from '../errors.ts'
import type { OutgoingMessage } from './bus.ts'

/** Upper bound of the bytes that the broker adds to a record's key, value and headers. */
const RECORD_OVERHEAD_BYTES = 128

/**
 * Maximum size of one produce request, in bytes. kafkajs puts all messages of a partition into one record batch, and
 * the broker refuses a batch beyond the topic's max.message.bytes, so requests stay well below it.
 */
const REQUEST_BYTES = 1_048_576

function sizeOf(message: OutgoingMessage): number {
  let bytes = RECORD_OVERHEAD_BYTES + Buffer.byteLength(message.key) + (message.value?.length ?? 0)
  for (const [name, value] of Object.entries(message.headers)) bytes += name.length + value.length + 4
  return bytes
}

/**
 * Splits messages into requests, in order, none larger than any topic accepts.
 * @throws AppError `message_invalid` if a single message is larger than its topic accepts
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
