/** The processor's API on loopback: keys and error bodies around routes.ts. */
import { type Dialect, type ProviderApi, type ProviderApiOptions, startProviderApi } from '../../api/provider-api.ts'
import type { RateLimit } from '../../api/rate-limit.ts'
import type { CardProcessor } from '../account.ts'
import { API_VERSION } from '../object-context.ts'
import { ProcessorRefusal } from '../refusal.ts'
import { answerCall } from './routes.ts'

/** 100 calls per second, 25 to one endpoint (docs.stripe.com/rate-limits, live mode). */
const RATE_LIMITS: readonly RateLimit[] = [
  { calls: 100, perMs: 1_000, of: 'account' },
  { calls: 25, perMs: 1_000, of: 'endpoint' },
]

export interface ProcessorApiOptions extends ProviderApiOptions {
  processor: CardProcessor
}

/**
 * Serves the account's API until stop(), under `/v1`. A key is a bearer token, or the user of basic authentication.
 * @throws Error EADDRINUSE if the port is in use
 */
export function startProcessorApi({ processor, ...options }: ProcessorApiOptions): Promise<ProviderApi> {
  return startProviderApi(dialectOf(processor), { ...options, rateLimits: options.rateLimits ?? RATE_LIMITS })
}

function dialectOf(processor: CardProcessor): Dialect {
  return {
    requestId: chance => `req_${chance.text(14)}`,
    keyOf(authorization) {
      const [scheme = '', value = ''] = (authorization ?? '').split(' ', 2)
      if (scheme.toLowerCase() !== 'basic') return value
      return Buffer.from(value, 'base64').toString('utf8').split(':')[0]
    },
    answer: call => answerCall(processor, call),
    refusals: {
      keyMissing: () =>
        refused(
          401,
          "You did not provide an API key. You need to provide your API key in the Authorization header, using Bearer auth (e.g. 'Authorization: Bearer YOUR_SECRET_KEY').",
        ),
      keyUnknown(key) {
        const shown = `${key.slice(0, 8)}${'*'.repeat(Math.max(0, key.length - 12))}${key.slice(-4)}`
        return refused(401, `Invalid API Key provided: ${shown}`)
      },
      keyMayOnlyRead: () => refused(403, 'The provided key does not have the required permissions for this endpoint.'),
      tooLarge: () => refused(413, 'Request too large'),
      missing: () => refused(404, 'No such object', 'resource_missing'),
      // No retry-after: callers choose their own delay.
      rateLimited: () =>
        new ProcessorRefusal(
          429,
          {
            type: 'invalid_request_error',
            code: 'rate_limit',
            message:
              'Request rate limit exceeded. Learn more about rate limits here https://stripe.com/docs/rate-limits.',
          },
          { 'stripe-rate-limited-reason': 'endpoint-rate' },
        ),
      failing: status =>
        status < 500
          ? refused(status, 'The request was refused.')
          : new ProcessorRefusal(status, { type: 'api_error', message: 'An unknown error occurred' }),
    },
    headers: requestId => ({ 'request-id': requestId, 'stripe-version': API_VERSION }),
    complete(body, requestId, failed) {
      if (!failed) return body
      const log = `https://dashboard.stripe.com/test/logs/${requestId}`
      return { error: { ...Reflect.get(body, 'error'), request_log_url: log } }
    },
  }
}

function refused(status: number, message: string, code?: string): ProcessorRefusal {
  const error = { type: 'invalid_request_error', message }
  return new ProcessorRefusal(status, code === undefined ? error : { ...error, code })
}
