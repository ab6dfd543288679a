/** The reseller's API on loopback: keys and error bodies around routes.ts. */
import { type Dialect, type ProviderApi, type ProviderApiOptions, startProviderApi } from '../../api/provider-api.ts'
import type { RateLimit } from '../../api/rate-limit.ts'
import type { Reseller } from '../account.ts'
import { ResellerRefusal } from '../refusal.ts'
import { answerCall } from './routes.ts'

/** 240 calls per minute for one address (developer.paddle.com, rate limiting). */
const RATE_LIMITS: readonly RateLimit[] = [{ calls: 240, perMs: 60_000, of: 'account' }]

export interface ResellerApiOptions extends ProviderApiOptions {
  reseller: Reseller
}

/**
 * Serves the account's API until stop(). Keys are bearer tokens.
 * @throws Error EADDRINUSE if the port is in use
 */
export function startResellerApi({ reseller, ...options }: ResellerApiOptions): Promise<ProviderApi> {
  return startProviderApi(dialectOf(reseller), { ...options, rateLimits: options.rateLimits ?? RATE_LIMITS })
}

function dialectOf(reseller: Reseller): Dialect {
  return {
    requestId: chance => [8, 4, 4, 4, 12].map(length => hex(chance.next, length)).join('-'),
    keyOf(authorization) {
      if (authorization === undefined) return undefined
      const key = /^bearer (\S+)$/i.exec(authorization)?.[1]
      if (key !== undefined) return key
      const detail = 'Authentication header included, but incorrectly formatted.'
      throw new ResellerRefusal(403, 'shared/authentication_malformed', detail)
    },
    answer: call => answerCall(reseller, call),
    refusals: {
      keyMissing: () => new ResellerRefusal(403, 'shared/authentication_missing', 'Authentication header missing.'),
      keyUnknown: () => new ResellerRefusal(403, 'shared/invalid_token', 'Invalid token.'),
      keyMayOnlyRead: () =>
        new ResellerRefusal(403, 'shared/forbidden', "You aren't permitted to perform this request."),
      tooLarge: () => new ResellerRefusal(400, 'shared/bad_request', 'Invalid request.'),
      missing: () => new ResellerRefusal(404, 'shared/not_found', 'Entity not found'),
      rateLimited: retryAfterS =>
        new ResellerRefusal(
          429,
          'shared/too_many_requests',
          'IP address exceeded the allowed rate limit. Retry after the number of seconds in the Retry-After header.',
          { headers: { 'retry-after': String(retryAfterS) } },
        ),
      failing: status =>
        new ResellerRefusal(status, `shared/${FAILURES[status] ?? 'internal_error'}`, 'Request failed.'),
    },
    headers: requestId => ({ 'paddle-version': '1', 'x-request-id': requestId }),
    complete: (body, requestId) => ({ ...body, meta: { request_id: requestId, ...Reflect.get(body, 'meta') } }),
  }
}

const FAILURES: Partial<Record<number, string>> = {
  401: 'invalid_token',
  403: 'forbidden',
  409: 'concurrent_modification',
  500: 'internal_error',
  503: 'service_unavailable',
}

function hex(next: () => number, length: number): string {
  return Array.from({ length }, () => Math.floor(next() * 16).toString(16)).join('')
}
