/** A refund that never happened, as the card processor would report it. */
export interface HeartbeatEvent {
  readonly eventId: string
  /** JSON text. */
  readonly body: string
}

/** The time of the heartbeat that is due, in milliseconds. Every process of admin-api computes the same one. */
export function dueHeartbeat(nowMs: number, everyMs: number): number {
  return Math.floor(nowMs / everyMs) * everyMs
}

const REFUND_PREFIX = 're_heartbeat_'

/**
 * The event of a heartbeat. It is derived from its time, so the events that several processes send for one time are one event, and
 * the inbox keeps one of them.
 */
export function heartbeatEvent(atMs: number): HeartbeatEvent {
  const created = Math.floor(atMs / 1000)
  const eventId = `evt_heartbeat_${atMs}`
  const refund = {
    id: `${REFUND_PREFIX}${atMs}`,
    object: 'refund',
    amount: 1,
    currency: 'usd',
    payment_intent: `pi_heartbeat_${atMs}`,
    status: 'succeeded',
    metadata: { heartbeat: 'true' },
    created,
  }
  const event = { id: eventId, object: 'event', type: 'refund.created', created, livemode: false }
  return { eventId, body: JSON.stringify({ ...event, data: { object: refund } }) }
}

/** When a heartbeat was due, by the id of its refund; undefined for any other id. */
export function heartbeatTimeOf(refundId: string): number | undefined {
  const digits = refundId.startsWith(REFUND_PREFIX) ? refundId.slice(REFUND_PREFIX.length) : ''
  return /^\d{1,15}$/.test(digits) ? Number(digits) : undefined
}
