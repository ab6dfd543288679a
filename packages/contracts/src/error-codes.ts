/**
 * Every error code that leaves a service, with its HTTP status and its title (RFC 9457). The list is closed:
 * docs/errors.md describes each one, and a test compares both ways.
 */
export const ERROR_CODES = {
  invalid_request: { status: 400, title: 'The request is not valid' },
  malformed_json: { status: 400, title: 'The body is not valid JSON' },
  malformed_event: { status: 400, title: 'The event is authentic but not one of this provider' },
  signature_rejected: { status: 400, title: 'The signature is missing or not valid' },
  unauthenticated: { status: 401, title: 'Credentials are missing or not valid' },
  forbidden: { status: 403, title: 'This key may not do that' },
  not_found: { status: 404, title: 'There is nothing here' },
  method_not_allowed: { status: 405, title: 'This path does not take that method' },
  request_timeout: { status: 408, title: 'The request took too long to arrive' },
  conflict: { status: 409, title: 'That would contradict what is stored' },
  illegal_transition: { status: 409, title: 'The operation cannot go from its state to that one' },
  last_admin_key: { status: 409, title: 'Last admin key' },
  budget_exceeded: { status: 409, title: 'A budget has not that much left' },
  idempotency_conflict: { status: 409, title: 'This key was used with another request' },
  precondition_failed: { status: 412, title: 'The resource has changed since it was read' },
  payload_too_large: { status: 413, title: 'The body is too large' },
  unsupported_media_type: { status: 415, title: 'The body is of a type that this path does not take' },
  unsupported_encoding: { status: 415, title: 'The body is encoded' },
  rate_limited: { status: 429, title: 'Rate limit exceeded' },
  headers_too_large: { status: 431, title: 'The headers are too large' },
  internal: { status: 500, title: 'Something went wrong on our side' },
  unavailable: { status: 503, title: 'Something this needs is away' },
  overloaded: { status: 503, title: 'Too much is in flight' },
  /** These never reach a caller: they say why a message was parked, a start refused or a delivery failed. */
  config_invalid: { status: 500, title: 'The configuration is not valid' },
  message_invalid: { status: 500, title: 'A message does not match its schema' },
  egress_blocked: { status: 400, title: 'The URL points where deliveries may not go' },
  secret_unreadable: { status: 500, title: 'A stored secret cannot be opened' },
} as const satisfies Record<string, { status: number; title: string }>

export type ErrorCode = keyof typeof ERROR_CODES
