/** Kafka header names. Values are ASCII strings; times are milliseconds since the epoch in decimal. */
export const HEADERS = {
  /** Deterministic id of the message: what consumers deduplicate by. */
  messageId: 'x-message-id',
  /** Inbound: the provider's own event id and type, and when ingress took the event in. */
  eventId: 'event_id',
  eventType: 'event_type',
  receivedAt: 'received_at',
  /** W3C trace context, carried unchanged from the notification to the delivery. */
  traceparent: 'traceparent',
  /** Delay lines: when the message is due, and where it goes then. */
  dueAt: 'x-due-at',
  /** Deliveries: which one it is, so that also a message whose value cannot be read tells. */
  deliveryId: 'x-delivery-id',
  /** Deliveries: number of the attempt that the message asks for, from 1. */
  attempt: 'x-attempt',
  /** Deliveries: `1` where a person asked for this very attempt, which then waits for no pause of its channel; absent else. */
  atOnce: 'x-at-once',
  /** Dead letters: where the message came from and why it was parked. */
  originalTopic: 'x-original-topic',
  originalPartition: 'x-original-partition',
  originalOffset: 'x-original-offset',
  originalTimestamp: 'x-original-timestamp',
  errorCode: 'x-error-code',
  errorMessage: 'x-error-message',
} as const
