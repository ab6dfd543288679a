/** Kafka header names. Values are ASCII strings; times are milliseconds since the epoch in decimal. */
export const HEADERS = {
  /** Deterministic id of the message, by which consumers recognise a repeat. */
  messageId: 'x-message-id',
  /** Notifications: the provider's event id and type, and the time when ingress accepted the event. */
  eventId: 'event_id',
  eventType: 'event_type',
  receivedAt: 'received_at',
  /** Notifications: the replay that sends the event again. An event with this header is decided again although it is done. */
  replayId: 'x-replay-id',
  /** W3C trace context of the span that sent the message. Absent if traces are off. */
  traceparent: 'traceparent',
  /** Delay lines: the due time of the message. */
  dueAt: 'x-due-at',
  /** Deliveries: the id of the delivery, which is needed if the value cannot be read. */
  deliveryId: 'x-delivery-id',
  /** Deliveries: the number of the requested attempt, from 1. */
  attempt: 'x-attempt',
  /** Deliveries: `1` if a person requested this attempt. The attempt then ignores the pause of its channel. */
  atOnce: 'x-at-once',
  /** Dead letters: the original position of the message, and why it was dead-lettered. */
  originalTopic: 'x-original-topic',
  originalPartition: 'x-original-partition',
  originalOffset: 'x-original-offset',
  originalTimestamp: 'x-original-timestamp',
  errorCode: 'x-error-code',
  errorMessage: 'x-error-message',
} as const
