/** Refusals of the providers' APIs with their real status and body, and the failure that a reader must report. */
import type { ProviderKind } from '@backstop/contracts'
import type { ReadFailure } from '../../src/read-back.ts'

export interface Refusal {
  readonly name: string
  readonly status: number
  readonly body: object
  readonly failure: ReadFailure
}

const processor = (status: number, error: object, failure: ReadFailure): Refusal => ({
  name: `${status} ${JSON.stringify(error)}`,
  status,
  body: { error: { type: 'invalid_request_error', ...error } },
  failure,
})

const reseller = (status: number, code: string, failure: ReadFailure): Refusal => ({
  name: `${status} ${code}`,
  status,
  body: {
    error: { type: 'request_error', code, detail: 'In words.', documentation_url: 'https://docs.example.com/' },
    meta: { request_id: 'b15ec92e-8688-40d4-a04d-f44cbec93355' },
  },
  failure,
})

const biller = (status: number, code: string, failure: ReadFailure): Refusal => ({
  name: `${status} ${code}`,
  status,
  body: { message: 'Sorry, in words', type: 'invalid_request', api_error_code: code, http_status_code: status },
  failure,
})

/** The refusals of each provider, with its real statuses and codes. */
export const REFUSALS: Readonly<Record<ProviderKind, readonly Refusal[]>> = {
  processor: [
    processor(401, { message: 'Invalid API Key provided: rk_test_****1234' }, 'key_refused'),
    processor(401, { code: 'api_key_expired' }, 'key_refused'),
    processor(403, { message: 'The provided key does not have the required permissions' }, 'key_refused'),
    processor(400, { code: 'parameter_unknown', param: 'foo' }, 'question_refused'),
    processor(402, { type: 'card_error' }, 'question_refused'),
    processor(404, { message: 'Unrecognized request URL (GET: /v9/refunds)' }, 'question_refused'),
    processor(409, { code: 'lock_timeout' }, 'provider_unavailable'),
    processor(429, { code: 'rate_limit' }, 'rate_limited'),
    processor(429, { code: 'lock_timeout' }, 'provider_unavailable'),
    processor(500, { type: 'api_error' }, 'provider_unavailable'),
    processor(503, { type: 'api_error' }, 'provider_unavailable'),
  ],
  reseller: [
    reseller(401, 'invalid_token', 'key_refused'),
    reseller(403, 'authentication_missing', 'key_refused'),
    reseller(403, 'authentication_malformed', 'key_refused'),
    reseller(403, 'forbidden', 'key_refused'),
    reseller(400, 'bad_request', 'question_refused'),
    reseller(400, 'invalid_field', 'question_refused'),
    reseller(404, 'invalid_url', 'question_refused'),
    reseller(409, 'conflict', 'provider_unavailable'),
    reseller(409, 'concurrent_modification', 'provider_unavailable'),
    reseller(429, 'too_many_requests', 'rate_limited'),
    reseller(500, 'internal_error', 'provider_unavailable'),
    reseller(502, 'bad_gateway', 'provider_unavailable'),
    reseller(503, 'service_unavailable', 'provider_unavailable'),
    reseller(503, 'temporarily_unavailable', 'provider_unavailable'),
  ],
  subscription: [
    biller(401, 'api_authentication_failed', 'key_refused'),
    biller(403, 'api_authorization_failed', 'key_refused'),
    biller(403, 'request_blocked', 'key_refused'),
    biller(400, 'param_wrong_value', 'question_refused'),
    biller(404, 'site_not_found', 'question_refused'),
    biller(409, 'invalid_state_for_request', 'question_refused'),
    biller(422, 'unprocessable', 'question_refused'),
    biller(429, 'api_request_limit_exceeded', 'rate_limited'),
    biller(429, 'third_party_api_request_limit_exceeded', 'rate_limited'),
    biller(429, 'lock_timeout', 'provider_unavailable'),
    biller(500, 'internal_error', 'provider_unavailable'),
    biller(503, 'internal_temporary_error', 'provider_unavailable'),
    biller(503, 'site_read_only_mode', 'provider_unavailable'),
    biller(503, 'site_not_ready', 'provider_unavailable'),
    biller(503, 'db_connection_failure', 'provider_unavailable'),
  ],
}
