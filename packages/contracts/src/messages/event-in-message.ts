import { unframe } from '../kafka/wire-format.ts'
import { INBOUND_TOPICS } from '../topics.ts'
import { InboundEvent } from './inbound.ts'

const TOPICS: ReadonlySet<string> = new Set(Object.values(INBOUND_TOPICS))

/**
 * The envelope is written by ingress, so it is readable even if its schema version is unknown or its body is not an
 * object.
 */
const Envelope = InboundEvent.extend({ body: InboundEvent.shape.body.catch({}) })

/**
 * The event that a message contains, even if the event cannot be used; undefined if the message contains none. The
 * inbox lists a dead-lettered message if it contains an event.
 */
export function eventInMessage(message: {
  readonly topic: string
  readonly value: Buffer | null
}): InboundEvent | undefined {
  return TOPICS.has(message.topic) ? Envelope.safeParse(jsonInMessage(message.value)).data : undefined
}

/** The JSON of a message, even if its schema is unknown; undefined if it contains none. */
export function jsonInMessage(value: Buffer | null): unknown {
  const unframed = unframe(value)
  if (unframed.kind === 'not_framed') return undefined
  try {
    return JSON.parse(unframed.json.toString())
  } catch {
    return undefined
  }
}
