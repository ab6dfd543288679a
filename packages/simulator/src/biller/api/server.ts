/** The biller's API on loopback: keys and error bodies around routes.ts. */
import { type Dialect, type ProviderApi, type ProviderApiOptions, startProviderApi } from '../../api/provider-api.ts'
import type { RateLimit } from '../../api/rate-limit.ts'
import type { Biller } from '../account.ts'
import { BillerRefusal } from '../refusal.ts'
import { answerCall } from './routes.ts'

/** 150 calls per minute: the limit of a test site, and of the smallest live plan. */
const RATE_LIMITS: readonly RateLimit[] = [{ calls: 150, perMs: 60_000, of: 'account' }]

export interface BillerApiOptions extends ProviderApiOptions {
  biller: Biller
  /** The name of each key, which events show as the caller; `Unnamed key` for other keys. */
  keyNames?: Readonly<Record<string, string>>
}

/**
 * Serves the site's API until stop(), under `/api/v2`. A key is the user of basic authentication, without a password.
 * @throws Error EADDRINUSE if the port is in use
 */
export function startBillerApi({ biller, keyNames = {}, ...options }: BillerApiOptions): Promise<ProviderApi> {
  return startProviderApi(dialectOf(biller, keyNames), { ...options, rateLimits: options.rateLimits ?? RATE_LIMITS })
}

function dialectOf(biller: Biller, keyNames: Readonly<Record<string, string>>): Dialect {
  return {
    requestId: chance => chance.text(16),
    keyOf(authorization) {
      const encoded = /^basic (\S+)$/i.exec(authorization ?? '')?.[1]
      return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('utf8').split(':')[0]
    },
    answer: call => answerCall(biller, call, keyNames),
    refusals: {
      keyMissing: () => unauthorised('Sorry, authentication failed. No API key was given'),
      keyUnknown: () => unauthorised('Sorry, authentication failed. Invalid api key'),
      keyMayOnlyRead: () =>
        new BillerRefusal(403, 'api_authorization_failed', 'This API key is not permitted to access the API'),
      tooLarge: () =>
        new BillerRefusal(400, 'invalid_request', 'The request is too large', { type: 'invalid_request' }),
      missing: () =>
        new BillerRefusal(404, 'resource_not_found', "Sorry, we couldn't find that resource", {
          type: 'invalid_request',
        }),
      rateLimited: retryAfterS =>
        new BillerRefusal(429, 'api_request_limit_exceeded', 'Sorry, the API request limit has been exceeded', {
          headers: { 'retry-after': String(retryAfterS) },
        }),
      failing: status => new BillerRefusal(status, FAILURES[status] ?? 'internal_error', 'Sorry, something went wrong'),
    },
    headers: () => ({}),
  }
}

function unauthorised(message: string): BillerRefusal {
  return new BillerRefusal(401, 'api_authentication_failed', message)
}

const FAILURES: Partial<Record<number, string>> = {
  401: 'api_authentication_failed',
  403: 'api_authorization_failed',
  409: 'invalid_state_for_request',
  500: 'internal_error',
  503: 'internal_temporary_error',
}
