import type { TopicName } from '@backstop/contracts'
import type { IHeaders, KafkaMessage } from 'kafkajs'
import type { IncomingMessage } from '../bus.ts'

/** Converts a kafkajs message to a message of the port. */
export function incomingMessage(topic: TopicName, partition: number, message: KafkaMessage): IncomingMessage {
  return {
    topic,
    partition,
    offset: BigInt(message.offset),
    key: message.key?.toString() ?? '',
    value: message.value,
    headers: readHeaders(message.headers),
    timestampMs: Number(message.timestamp),
  }
}

/** Converts header values to text. Of repeated headers the last value is used. */
function readHeaders(headers: IHeaders | undefined): Record<string, string> {
  const texts: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers ?? {})) {
    const last = Array.isArray(value) ? value.at(-1) : value
    if (last !== undefined) texts[name] = last.toString()
  }
  return texts
}
