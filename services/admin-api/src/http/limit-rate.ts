import { AppError } from '@backstop/kit/errors'
import { addressKey } from '@backstop/kit/http'
import type { Response } from 'express'
import { RateLimiter, type RateVerdict } from './rate-limiter.ts'

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
