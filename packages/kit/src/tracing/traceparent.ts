/** W3C trace context, version 00 (https://www.w3.org/TR/trace-context/#traceparent-header): no id may be all zeros. */
const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/** The position of a span in its trace, as the header `traceparent` carries it. */
export interface TraceContext {
  /** 32 hex digits. */
  readonly traceId: string
  /** 16 hex digits. */
  readonly spanId: string
  readonly isSampled: boolean
}

/** Reads a traceparent; undefined if it is invalid. */
export function readTraceparent(text: string | undefined): TraceContext | undefined {
  if (text === undefined || !TRACEPARENT.test(text)) return undefined
  const flags = Number.parseInt(text.slice(53), 16)
  return { traceId: text.slice(3, 35), spanId: text.slice(36, 52), isSampled: (flags & 1) === 1 }
}

export function writeTraceparent(traceId: string, spanId: string, isSampled: boolean): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`
}

/** The trace id in a valid traceparent. */
export function traceIdOf(traceparent: string): string {
  return traceparent.slice(3, 35)
}
