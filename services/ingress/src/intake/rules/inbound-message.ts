import {
  allocateFrame,
  deterministicId,
  HEADERS,
  INBOUND_TOPICS,
  isoTime,
  type ProviderKind,
  partitionKey,
} from '@backstop/contracts'

/** The facts about an authentic event. Decisions use the ids here, never the ids in the body. */
export interface InboundFacts {
  readonly provider: ProviderKind
  readonly projectId: string
  readonly connectionId: string
  /** The provider's id of the event: at most 255 printable ASCII characters. */
  readonly eventId: string
  readonly eventType: string
  /** The payment or subscription that the event is about; null if it names none. */
  readonly subject: string | null
  /** Milliseconds since the epoch. */
  readonly receivedAtMs: number
  /** Undefined if traces are off. */
  readonly traceparent: string | undefined
}

export interface InboundMessage {
  readonly topic: (typeof INBOUND_TOPICS)[ProviderKind]
  readonly key: string
  readonly value: Buffer
  readonly headers: Readonly<Record<string, string>>
}

const ENVELOPE_END = '}'.charCodeAt(0)

/**
 * The Kafka message of an authentic event: an InboundEvent in the registry's wire format.
 * @param body the provider's bytes, already checked to be one JSON object in UTF-8. They become the last field unchanged.
 */
export function inboundMessage(schemaId: number, facts: InboundFacts, body: Buffer): InboundMessage {
  const headers: Record<string, string> = {
    // The same id for every delivery of this event to this connection, so that consumers recognise a repeat.
    [HEADERS.messageId]: deterministicId('message', 'inbound', facts.connectionId, facts.eventId),
    [HEADERS.eventId]: facts.eventId,
    [HEADERS.eventType]: facts.eventType,
    [HEADERS.receivedAt]: String(facts.receivedAtMs),
  }
  if (facts.traceparent !== undefined) headers[HEADERS.traceparent] = facts.traceparent
  return {
    topic: INBOUND_TOPICS[facts.provider],
    key: partitionKey(facts.projectId, facts.subject ?? facts.eventId),
    value: frameEnvelope(schemaId, envelopeStart(facts), body),
    headers,
  }
}

/** Copies the parts once, into the final buffer. */
function frameEnvelope(schemaId: number, start: string, body: Buffer): Buffer {
  const { bytes, jsonAt } = allocateFrame(schemaId, Buffer.byteLength(start) + body.length + 1)
  const bodyAt = jsonAt + bytes.write(start, jsonAt)
  bytes.set(body, bodyAt)
  bytes[bodyAt + body.length] = ENVELOPE_END
  return bytes
}

/** The message up to its last field, whose value is the raw body. */
function envelopeStart(facts: InboundFacts): string {
  const fields = JSON.stringify({
    provider: facts.provider,
    project_id: facts.projectId,
    connection_id: facts.connectionId,
    event_id: facts.eventId,
    event_type: facts.eventType,
    received_at: isoTime(facts.receivedAtMs),
  })
  return `${fields.slice(0, -1)},"body":`
}
