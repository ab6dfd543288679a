/** A client for tests that shows the whole answer. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  /** Parsed JSON, or the text if it is not JSON, or undefined if there is no body. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape, and a wrong look fails the test
  readonly body: any
}

export interface ApiClient {
  readonly url: string
  call(method: string, path: string, options?: CallOptions): Promise<Answer>
  get(path: string): Promise<Answer>
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  patch(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  delete(path: string): Promise<Answer>
  /** A client with another key, or without a key. */
  withKey(key: string | undefined): ApiClient
  /** A client without a key that sends these headers, as a signed-in browser does. */
  withHeaders(headers: Record<string, string>): ApiClient
}

interface CallOptions {
  readonly body?: unknown
  /** Sent unchanged in place of `body`. */
  readonly raw?: string | Uint8Array
  readonly headers?: Record<string, string>
}

/** Everything that was sent and answered by a client and the clients made from it. Tests search it for secrets. */
export type Transcript = string[]

export function createApiClient(
  url: string,
  key: string | undefined,
  transcript: Transcript = [],
  always: Record<string, string> = {},
): ApiClient {
  async function call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    const json = options.body === undefined ? undefined : JSON.stringify(options.body)
    const body = options.raw ?? json
    const response = await fetch(url + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...always,
        ...options.headers,
      },
      ...(body === undefined ? {} : { body: body as NonNullable<RequestInit['body']> }),
      signal: AbortSignal.timeout(40_000),
    })
    const text = await readText(response)
    transcript.push(`${method} ${path} → ${response.status} ${JSON.stringify([...response.headers])} ${text}`)
    return { status: response.status, headers: response.headers, body: parseBody(text) }
  }
  return {
    url,
    call,
    get: path => call('GET', path),
    post: (path, body, headers = {}) => call('POST', path, { body, headers }),
    patch: (path, body, headers = {}) => call('PATCH', path, { body, headers }),
    delete: path => call('DELETE', path),
    withKey: other => createApiClient(url, other, transcript),
    withHeaders: headers => createApiClient(url, undefined, transcript, headers),
  }
}

/** A stream has no end, so only its beginning is read (event-client.ts reads on). */
async function readText(response: Response): Promise<string> {
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
  if (!isStream || response.body === null) return response.text()
  const reader = response.body.getReader()
  const { value } = await reader.read()
  await reader.cancel()
  return new TextDecoder().decode(value)
}

function parseBody(text: string): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
