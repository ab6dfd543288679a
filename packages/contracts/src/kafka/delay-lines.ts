import type { TopicName } from '../topics.ts'
import { HEADERS } from './headers.ts'

/** The delay lines, and the topic to which each sends its messages when they are due. All messages of a line have about the same delay. */
export const DELAY_LINES = {
  rechecks: 'rechecks.due',
  'rechecks.unanswered': 'rechecks.due',
  'rereads.retry': 'rereads',
  'deliveries.retry.5s': 'deliveries',
  'deliveries.retry.1m': 'deliveries',
  'deliveries.retry.10m': 'deliveries',
  'deliveries.retry.1h': 'deliveries',
  'deliveries.retry.6h': 'deliveries',
} as const satisfies Partial<Record<TopicName, TopicName>>

export type DelayLineName = keyof typeof DELAY_LINES

interface Headed {
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * A message that a delay line holds until it is due. Then the consumers of the line's target get it, with the same headers.
 * @param line a delay line, or its target for a message that is due at once
 * @param dueAtMs milliseconds since the epoch
 */
export function sendAt<Message extends object, Line extends DelayLineName | (typeof DELAY_LINES)[DelayLineName]>(
  line: Line,
  message: Message & Headed,
  dueAtMs: number,
): Message & { topic: Line; headers: Record<string, string> } {
  return { ...message, topic: line, headers: { ...message.headers, [HEADERS.dueAt]: String(Math.ceil(dueAtMs)) } }
}

/** When a message is due, in milliseconds since the epoch; null if its headers have no valid due time. */
export function dueAtOf({ headers }: Required<Headed>): number | null {
  const text = headers[HEADERS.dueAt]
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null
}
