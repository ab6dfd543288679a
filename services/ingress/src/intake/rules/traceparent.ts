/** W3C trace context, version 00 (https://www.w3.org/TR/trace-context/#traceparent-header): no id may be all zeros. */
const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/**
 * The trace of a notification: the sender's if it is valid, or else a new trace.
 * @param newIds 48 random hex digits: trace id, then span id
 */
export function traceparentOf(incoming: string | undefined, newIds: () => string): string {
  if (incoming !== undefined && TRACEPARENT.test(incoming)) return incoming
  const ids = newIds()
  return `00-${ids.slice(0, 32)}-${ids.slice(32, 48)}-01`
}

/** The trace id in a traceparent, for the log line. */
export function traceIdOf(traceparent: string): string {
  return traceparent.slice(3, 35)
}
