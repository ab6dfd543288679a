/** Signs one notification like its provider, and posts it once to an inbound URL. */
import { signProcessorEvent } from '../processor/credential.ts'
import { signResellerEvent } from '../reseller/credential.ts'
import { subscriptionAuthorization } from '../subscription/credential.ts'

/** The credential of a provider. */
export type Credential =
  | { kind: 'processor'; secrets: readonly string[]; timestampS?: number; header?: string }
  | { kind: 'reseller'; secrets: readonly string[]; timestampS?: number; header?: string }
  | { kind: 'subscription'; password: string; username?: string }
  /** The request has no credential header. */
  | { kind: 'none' }

export interface PostRequest {
  url: string
  /** An object is sent as JSON; text and bytes are sent unchanged. */
  body: object | string | Buffer
  credential: Credential
  /** Headers that are added last, so that a test can replace any header. */
  headers?: Record<string, string>
  /** Milliseconds since the epoch, for the signature's timestamp. */
  now: () => number
  /** Milliseconds that the provider waits for the answer; 20,000 by default. */
  timeoutMs?: number
  /** Aborts the request. */
  signal?: AbortSignal
}

export interface PostAnswer {
  status: number
  headers: Headers
  body: string
}

/** The bytes that are posted for a body. */
export function bytesOf(body: object | string | Buffer): Buffer {
  if (Buffer.isBuffer(body)) return body
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body), 'utf8')
}

/** The authentication header of a provider's notification, by its name in lower case. */
export function credentialHeaders(credential: Credential, body: Buffer, nowMs: number): Record<string, string> {
  switch (credential.kind) {
    case 'processor': {
      const at = credential.timestampS ?? Math.floor(nowMs / 1000)
      return { [credential.header ?? 'processor-signature']: signProcessorEvent(body, credential.secrets, at) }
    }
    case 'reseller': {
      const at = credential.timestampS ?? Math.floor(nowMs / 1000)
      return { [credential.header ?? 'reseller-signature']: signResellerEvent(body, credential.secrets, at) }
    }
    case 'subscription':
      return { authorization: subscriptionAuthorization(credential.password, credential.username) }
    case 'none':
      return {}
    default:
      throw credential satisfies never
  }
}

/**
 * Signs and posts one notification, and returns the answer with any status. Redirects are not followed.
 * @throws TypeError or a TimeoutError of `fetch` if there is no answer
 */
export async function postNotification(request: PostRequest): Promise<PostAnswer> {
  const body = bytesOf(request.body)
  const timeout = AbortSignal.timeout(request.timeoutMs ?? 20_000)
  const response = await fetch(request.url, {
    method: 'POST',
    body: new Uint8Array(body),
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'user-agent': 'Backstop-Simulator/1.0',
      ...credentialHeaders(request.credential, body, request.now()),
      ...request.headers,
    },
    redirect: 'manual',
    signal: request.signal === undefined ? timeout : AbortSignal.any([timeout, request.signal]),
  })
  return { status: response.status, headers: response.headers, body: await response.text() }
}
