export interface RateLimit {
  readonly perSecond: number
  /** Number of events that may arrive at once after a pause. */
  readonly burst: number
}

/** The state of one connection's limit: a token bucket, full when it is new. */
export interface Bucket {
  readonly tokens: number
  readonly atMs: number
}

export type RateVerdict =
  | { readonly kind: 'within'; readonly bucket: Bucket }
  | { readonly kind: 'exceeded'; readonly retryAfterS: number }

/** Takes a token for one more event, or returns the time to wait. @param bucket undefined if the connection has sent nothing yet */
export function takeToken(bucket: Bucket | undefined, { perSecond, burst }: RateLimit, nowMs: number): RateVerdict {
  // If the clock was set back, the bucket neither gains nor loses tokens.
  const refilled = bucket === undefined ? burst : (Math.max(0, nowMs - bucket.atMs) / 1_000) * perSecond + bucket.tokens
  const tokens = Math.min(burst, refilled)
  if (tokens < 1) return { kind: 'exceeded', retryAfterS: Math.max(1, Math.ceil((1 - tokens) / perSecond)) }
  return { kind: 'within', bucket: { tokens: tokens - 1, atMs: nowMs } }
}
