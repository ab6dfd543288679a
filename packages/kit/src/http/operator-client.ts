import { Agent, type Dispatcher, ProxyAgent, request } from 'undici'
import { AppError } from '../errors.ts'

/**
 * Calls URLs that only the operator can set, in the settings of the service. Unlike Egress it reaches private networks, so it must never
 * get a URL that a user can set.
 */
export interface OperatorClient {
  /**
   * Sends one request on a connection of its own, and follows no redirect.
   * @returns the status and the beginning of the answer
   * @throws AppError `unavailable` without the URL, which may be a secret
   */
  send(request: OperatorRequest): Promise<{ readonly status: number; readonly text: string }>
  stop(): Promise<void>
}

export interface OperatorRequest {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** From DNS to the last byte that is read. */
const DEADLINE_MS = 5_000
const SHOWN_CHARACTERS = 200

/** @param proxyUrl a CONNECT proxy for all requests */
export function createOperatorClient({ proxyUrl }: { readonly proxyUrl?: string | undefined } = {}): OperatorClient {
  // A connection that is kept would hide that new ones fail.
  const common = { pipelining: 0 } as const
  const dispatcher: Dispatcher =
    proxyUrl === undefined ? new Agent(common) : new ProxyAgent({ ...common, uri: proxyUrl, proxyTunnel: true })
  return {
    async send({ url, method, headers = {}, body }) {
      try {
        const signal = AbortSignal.timeout(DEADLINE_MS)
        const content = body === undefined ? {} : { body }
        const response = await request(url, { dispatcher, method, headers, signal, ...content })
        return { status: response.statusCode, text: await beginningOf(response.body) }
      } catch (error) {
        const { code, name } = error as NodeJS.ErrnoException
        // A DOMException, as of a time-out, has a number as its code.
        throw new AppError('unavailable', `No answer (${typeof code === 'string' ? code : name})`, { retryable: true })
      }
    },
    stop: () => dispatcher.destroy(),
  }
}

/** The status is the answer, so a body that is long, late or broken off is no failure. */
async function beginningOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  try {
    for await (const chunk of body) {
      text += decoder.decode(chunk, { stream: true })
      if (text.length >= SHOWN_CHARACTERS) break
    }
  } catch {}
  return text.slice(0, SHOWN_CHARACTERS)
}
