/** Signs one notification like its provider, and posts it once to an inbound URL. */

import { createHmac } from 'node:crypto'

/** The credential of a provider. */
export type Credential =
  | { kind: 'processor' | 'reseller'; secrets: readonly string[]; timestampS?: number; header?: string }
  /** The user is always `service`, unless a test gives another one. */
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

/** How the signing providers write a signature, by their documentation: the header, and the texts before time, body and signature. */
const SIGNATURES = {
  processor: { header: 'processor-signature', time: 't=', body: '.', signature: ',v1=' },
  reseller: { header: 'reseller-signature', time: 'ts=', body: ':', signature: ';h1=' },
} as const

/**
 * The value of the signature header. Written from the documentation and not from the product's verification, so that an error in one
 * shows in the other. During a rotation a provider signs with every secret.
 */
function sign(kind: keyof typeof SIGNATURES, body: Buffer, secrets: readonly string[], timestampS: number): string {
  const texts = SIGNATURES[kind]
  const signatures = secrets.map(secret => {
    const digest = createHmac('sha256', secret).update(`${timestampS}${texts.body}`).update(body).digest('hex')
    return texts.signature + digest
  })
  return [texts.time, timestampS, ...signatures].join('')
}

/** The authentication header of a provider's notification, by its name in lower case. */
export function credentialHeaders(credential: Credential, body: Buffer, nowMs: number): Record<string, string> {
  switch (credential.kind) {
    case 'processor':
    case 'reseller': {
      const { kind, secrets, timestampS = Math.floor(nowMs / 1000), header = SIGNATURES[kind].header } = credential
      return { [header]: sign(kind, body, secrets, timestampS) }
    }
    case 'subscription': {
      const { username = 'service', password } = credential
      return { authorization: `Basic ${Buffer.from(`${username}:${password}`, 'utf8').toString('base64')}` }
    }
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
