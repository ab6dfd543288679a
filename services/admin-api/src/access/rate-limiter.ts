import { AppError } from '@backstop/kit/errors'
import { addressKey } from '@backstop/kit/http'
import type { Response } from 'express'

/** How many requests one key or address may send in each window. */
export interface RateLimiterOptions {
  /** Names the limit in the RateLimit headers. */
  readonly name: string
  /** The most requests in a window. */
  readonly quota: number
  readonly windowMs: number
}

/** The state of one limit for the sender of a request. */
export interface RateVerdict {
  readonly kind: 'allowed' | 'exceeded'
  readonly name: string
  readonly quota: number
  readonly windowS: number
  /** The requests that the sender may still send in this window. */
  readonly remaining: number
  /** Whole seconds until the window ends, rounded up, at least 1. */
  readonly resetS: number
}

/** Bounds the memory for senders that send no more. The oldest window is dropped first, so its sender starts a new one. */
const MAX_SENDERS = 50_000

/** Counts requests by sender in fixed windows. Each window begins with the first request of the sender. */
export class RateLimiter {
  readonly #options: RateLimiterOptions
  /** In the order of their ends, because all windows have the same length and a new window is added at the end. */
  readonly #windows = new Map<string, { count: number; readonly endsAtMs: number }>()

  constructor(options: RateLimiterOptions) {
    this.#options = options
  }

  /** Counts a request and decides whether it is allowed. */
  take(sender: string, nowMs: number): RateVerdict {
    const { name, quota, windowMs } = this.#options
    const window = this.#windowOf(sender, nowMs)
    window.count++
    return {
      kind: window.count > quota ? 'exceeded' : 'allowed',
      name,
      quota,
      windowS: windowMs / 1_000,
      remaining: Math.max(0, quota - window.count),
      resetS: Math.max(1, Math.ceil((window.endsAtMs - nowMs) / 1_000)),
    }
  }

  #windowOf(sender: string, nowMs: number): { count: number; readonly endsAtMs: number } {
    const known = this.#windows.get(sender)
    if (known !== undefined && known.endsAtMs > nowMs) return known
    this.#windows.delete(sender)
    for (const [oldest, { endsAtMs }] of this.#windows) {
      if (endsAtMs > nowMs && this.#windows.size < MAX_SENDERS) break
      this.#windows.delete(oldest)
    }
    const window = { count: 0, endsAtMs: nowMs + this.#options.windowMs }
    this.#windows.set(sender, window)
    return window
  }
}

/** The most requests in a minute. */
export interface RateLimits {
  readonly perKey: number
  readonly perAddress: number
}

/** Limits the requests of each API key or person and of each address. Every replica counts by itself. */
export interface RequestLimits {
  /** @throws AppError `rate_limited` */
  limitAddress(address: string, response: Response): void
  /** @throws AppError `rate_limited` */
  limitKey(principalId: string, response: Response): void
}

const WINDOW_MS = 60_000

/** Creates the limits. They also set the RateLimit headers of each answer (IETF draft-ietf-httpapi-ratelimit-headers-10). */
export function createRequestLimits({ perKey, perAddress }: RateLimits, clock: { now(): number }): RequestLimits {
  const addresses = new RateLimiter({ name: 'address', quota: perAddress, windowMs: WINDOW_MS })
  const keys = new RateLimiter({ name: 'key', quota: perKey, windowMs: WINDOW_MS })
  return {
    limitAddress: (address, response) => apply(addresses.take(addressKey(address), clock.now()), response),
    limitKey: (principalId, response) => apply(keys.take(principalId, clock.now()), response),
  }
}

function apply({ kind, name, quota, windowS, remaining, resetS }: RateVerdict, response: Response): void {
  // Each limit is one member of the lists.
  response.append('ratelimit-policy', `"${name}";q=${quota};w=${windowS}`)
  response.append('ratelimit', `"${name}";r=${remaining};t=${resetS}`)
  if (kind === 'allowed') return
  response.set('retry-after', String(resetS))
  throw new AppError('rate_limited', `This ${name} sent more than ${quota} requests in a minute; retry in ${resetS} s`)
}
