import { HEADERS, type TopicName } from '@backstop/contracts'
import type { IncomingMessage, OutgoingMessage } from '../bus/bus.ts'
import { AppError } from '../errors.ts'

/** Maximum length of a reason in a header, in characters. */
const MAX_REASON = 500

/**
 * Creates the dead letter of an unusable message: its unchanged bytes, key and headers, with its origin and the reason.
 * A dead letter that fails again keeps its first origin.
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

/** The headers with the reason why a message was dead-lettered. */
export function deadLetterReason(error: unknown): Readonly<Record<string, string>> {
  const code = error instanceof AppError ? error.code : 'internal'
  const text = error instanceof Error ? error.message : String(error)
  return { [HEADERS.errorCode]: code, [HEADERS.errorMessage]: printable(text) }
}

/** Converts text to one line of ASCII, as required for header values. */
function printable(text: string): string {
  return text.slice(0, MAX_REASON).replace(/[^\x20-\x7e]+/g, ' ')
}
