import type { DeadLetterKind } from './http/dead-letter.ts'
import { MESSAGES, type MessageName } from './messages/index.ts'

const KIND_OF_MESSAGE: Record<MessageName, DeadLetterKind> = {
  'inbound-event': 'notification',
  operation: 'operation',
  recheck: 'recheck',
  reread: 'reread',
  readback: 'readback',
  command: 'command',
  incident: 'incident',
  alert: 'alert',
  'delivery-request': 'delivery',
}

const KIND_OF_TOPIC: ReadonlyMap<string, DeadLetterKind> = new Map(
  (Object.keys(KIND_OF_MESSAGE) as MessageName[]).flatMap(name =>
    MESSAGES[name].topics.map(topic => [topic, KIND_OF_MESSAGE[name]] as const),
  ),
)

/** The kind of a dead-lettered message, by its original topic. */
export function deadLetterKindOf(topic: string): DeadLetterKind {
  return KIND_OF_TOPIC.get(topic) ?? 'unknown'
}
