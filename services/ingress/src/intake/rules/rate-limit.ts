export interface RateLimit {
  readonly perSecond: number
  /** Events that may come at once after a pause. */
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

/** Whether one more event is within the limit. @param bucket undefined for a connection that sent nothing so far */
export function takeToken(bucket: Bucket | undefined, { perSecond, burst }: RateLimit, nowMs: number): RateVerdict {
  // A clock that was set back refills nothing, and takes nothing away.
  const refilled = bucket === undefined ? burst : (Math.max(0, nowMs - bucket.atMs) / 1_000) * perSecond + bucket.tokens
  const tokens = Math.min(burst, refilled)
  if (tokens < 1) return { kind: 'exceeded', retryAfterS: Math.max(1, Math.ceil((1 - tokens) / perSecond)) }
  return { kind: 'within', bucket: { tokens: tokens - 1, atMs: nowMs } }
}
