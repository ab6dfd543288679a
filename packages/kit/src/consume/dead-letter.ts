import { HEADERS, type TopicName } from '@backstop/contracts'
import type { IncomingMessage, OutgoingMessage } from '../bus/bus.ts'
import { AppError } from '../errors.ts'

/** Longest reason that a header carries: enough for a person, small enough for any broker. */
const MAX_REASON = 500

/**
 * A message that could not be used, on its way to a dead-letter topic: the bytes, key and headers as they came, with
 * where it lay and why it was parked. The first origin stays when a dead letter dies again.
 */
export function deadLetter(message: IncomingMessage, deadTopic: TopicName, error: unknown): OutgoingMessage {
  return {
    topic: deadTopic,
    key: message.key,
    value: message.value,
    headers: {
      [HEADERS.originalTopic]: message.topic,
      [HEADERS.originalPartition]: String(message.partition),
      [HEADERS.originalOffset]: String(message.offset),
      [HEADERS.originalTimestamp]: String(message.timestampMs),
      ...message.headers,
      ...deadLetterReason(error),
    },
  }
}

/** The headers that say why a message was dead-lettered. */
export function deadLetterReason(error: unknown): Readonly<Record<string, string>> {
  const code = error instanceof AppError ? error.code : 'internal'
  const text = error instanceof Error ? error.message : String(error)
  return { [HEADERS.errorCode]: code, [HEADERS.errorMessage]: printable(text) }
}

/** Header values are ASCII and one line, whatever an error says. */
function printable(text: string): string {
  return text.slice(0, MAX_REASON).replace(/[^\x20-\x7e]+/g, ' ')
}
