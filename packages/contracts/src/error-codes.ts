/**
 * All error codes, each with its HTTP status and its title (RFC 9457). The list is closed: a test checks that docs/errors.md describes
 * exactly these codes.
 */
export const ERROR_CODES = {
  invalid_request: { status: 400, title: 'Invalid request' },
  malformed_json: { status: 400, title: 'Malformed JSON' },
  malformed_event: { status: 400, title: 'Malformed event' },
  signature_rejected: { status: 400, title: 'Signature rejected' },
  unauthenticated: { status: 401, title: 'Invalid credentials' },
  forbidden: { status: 403, title: 'Permission denied' },
  not_found: { status: 404, title: 'Not found' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  request_timeout: { status: 408, title: 'Request timeout' },
  conflict: { status: 409, title: 'Conflict' },
  illegal_transition: { status: 409, title: 'Illegal state transition' },
  incident_state: { status: 409, title: 'Incident state conflict' },
  last_admin_key: { status: 409, title: 'Last admin key' },
  budget_exceeded: { status: 409, title: 'Budget exceeded' },
  idempotency_conflict: { status: 409, title: 'Idempotency key reused' },
  precondition_failed: { status: 412, title: 'Precondition failed' },
  payload_too_large: { status: 413, title: 'Payload too large' },
  unsupported_media_type: { status: 415, title: 'Unsupported media type' },
  unsupported_encoding: { status: 415, title: 'Unsupported Content-Encoding' },
  rate_limited: { status: 429, title: 'Rate limit exceeded' },
  headers_too_large: { status: 431, title: 'Headers too large' },
  internal: { status: 500, title: 'Internal error' },
  unavailable: { status: 503, title: 'Dependency unavailable' },
  overloaded: { status: 503, title: 'Service overloaded' },
  /**
   * The following codes, except `egress_blocked`, are never an API answer. They say why a message was dead-lettered, why a process did not start, or why a delivery
   * failed.
   */
  config_invalid: { status: 500, title: 'Invalid configuration' },
  message_invalid: { status: 500, title: 'Invalid message' },
  egress_blocked: { status: 400, title: 'URL not allowed' },
  secret_unreadable: { status: 500, title: 'Unreadable secret' },
} as const satisfies Record<string, { status: number; title: string }>

export type ErrorCode = keyof typeof ERROR_CODES
