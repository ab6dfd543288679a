/**
 * All answers of ingress. Except for the 200 and the 429, each is built once. Every refusal of authentication has the same bytes, so
 * a sender cannot find out which connections exist or which check failed.
 */
import type { ErrorCode, ProviderKind } from '@backstop/contracts'
import { PROBLEM_TYPE, problem } from '@backstop/kit/http'
import { MAX_BODY_BYTES, MAX_HEADERS, MAX_HEADERS_BYTES, RETRY_AFTER_S } from './limits.ts'

export interface Answer {
  readonly status: number
  /** Header names and values in turn, as writeHead of node:http takes them. */
  readonly headers: readonly string[]
  /** A text: Node.js writes it together with the headers, but a Buffer separately. */
  readonly body: string
}

function refusal(code: ErrorCode, detail: string, more: readonly string[] = []): Answer {
  const document = problem(code, detail)
  const body = `${JSON.stringify(document)}\n`
  const headers = ['content-type', PROBLEM_TYPE, 'content-length', String(Buffer.byteLength(body)), ...more]
  return { status: document.status, headers, body }
}

const badSignature = refusal(
  'signature_rejected',
  'Check the path, the signing secret and the clock; the signature covers the raw body and is valid for 5 minutes',
)

/** One answer per provider for every notification that is not authentic, whatever the reason. */
export const NOT_AUTHENTIC: Readonly<Record<ProviderKind, Answer>> = {
  processor: badSignature,
  reseller: badSignature,
  subscription: refusal('unauthenticated', 'Check the path, the user name and the password of this connection', [
    'www-authenticate',
    'Basic realm="backstop", charset="UTF-8"',
  ]),
}

const MALFORMED_DETAILS = {
  not_utf8: 'The body is not valid UTF-8',
  not_json: 'The body is not JSON; send it without a byte order mark and without compression',
  not_an_object: 'The body is JSON but not an object',
  not_an_event: 'The body is not an event object of this provider; post the events as the provider makes them',
  id_unusable: "The event has no usable id: the provider's id field must hold 1 to 255 printable ASCII characters",
  type_unusable:
    "The event has no usable type: the provider's type field must hold 1 to 255 printable ASCII characters",
} as const

export type Malformation = keyof typeof MALFORMED_DETAILS

/** The sender is authentic, so the answer may say what is wrong. */
export const MALFORMED = Object.fromEntries(
  Object.entries(MALFORMED_DETAILS).map(([reason, detail]) => [reason, refusal('malformed_event', detail)]),
) as Readonly<Record<Malformation, Answer>>

export const NOT_FOUND = refusal(
  'not_found',
  'Post to /v1/webhooks/processor/{connection_id}, …/reseller/{connection_id} or …/subscription/{connection_id}',
)
export const METHOD_NOT_ALLOWED = refusal('method_not_allowed', 'Send notifications by POST', ['allow', 'POST'])
export const TOO_LARGE = refusal('payload_too_large', `The body may have at most ${MAX_BODY_BYTES} bytes`)
export const CONTENT_ENCODED = refusal(
  'unsupported_encoding',
  'Send the body without Content-Encoding, as it was signed',
  ['accept-encoding', 'identity'],
)
export const BODY_TIMEOUT = refusal('request_timeout', 'The body did not arrive in time; send it without pauses')
export const BAD_REQUEST = refusal('invalid_request', 'The request is not valid HTTP/1.1')
export const HOST_MISSING = refusal('invalid_request', 'Send a Host header; HTTP/1.1 requires it')
export const HEADERS_TOO_LARGE = refusal(
  'headers_too_large',
  `There may be at most ${MAX_HEADERS} headers, of ${MAX_HEADERS_BYTES} bytes together`,
)
export const UNAVAILABLE = refusal(
  'unavailable',
  'The notification cannot be accepted at present; send it again later',
  ['retry-after', String(RETRY_AFTER_S.unavailable)],
)
export const OVERLOADED = refusal('overloaded', 'Ingress is at its limit; send the event again later', [
  'retry-after',
  String(RETRY_AFTER_S.overloaded),
])
/** The sender is authentic, so the answer may say when to retry. */
export function rateLimited(retryAfterS: number): Answer {
  return refusal('rate_limited', 'This connection sends more events than its limit; send the event again later', [
    'retry-after',
    String(retryAfterS),
  ])
}

export const INTERNAL_ERROR = refusal(
  'internal',
  'The error is logged; send the event again later, and report it if it happens again',
)

/** The answer for a durable event. A repeated notification gets the same answer. */
export function receivedAnswer(eventId: string): Answer {
  // Event ids are printable ASCII, so the length in characters is the length in bytes.
  const body = `{"received":true,"event_id":${JSON.stringify(eventId)}}\n`
  return {
    status: 200,
    headers: ['content-type', 'application/json', 'content-length', String(body.length)],
    body,
  }
}
