import type { Dispatcher } from 'undici'
import type { Deadline } from './deadline.ts'
import { egressFailed } from './failure.ts'
import type { MeteredHandler, SocketMeter } from './socket-meter.ts'

export interface EgressRequest {
  readonly url: string
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Buffer | string
  /** Time limit from DNS to the last byte read, in milliseconds. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
  /**
   * Requests in different lanes never share connections, for example requests of different channels. One common lane by
   * default.
   */
  readonly lane?: string
  /**
   * How to handle a body that is too large or incomplete. `refuse` (the default, for callers that use the body) throws;
   * `accept` (for callers that use only the status) returns the part that was read.
   */
  readonly partialBody?: 'refuse' | 'accept'
  /** Maximum number of body bytes to read; 64 KiB by default. */
  readonly maxBodyBytes?: number
}

export interface EgressResponse {
  readonly status: number
  /** Headers by lower-case name; repeated headers are joined with a comma. */
  readonly headers: Readonly<Record<string, string>>
  /** Never decompressed, so that a small answer cannot become large. */
  readonly body: Buffer
  /** True if `body` is the whole body. */
  readonly complete: boolean
}

const MAX_BODY_BYTES = 65_536
/**
 * Bytes that may arrive for one request in addition to its body: head, interim responses, trailers, TLS, and bytes that
 * the socket reads ahead of the parser. Body bytes count twice, because a small chunk has a chunk head of the same
 * size.
 */
const OVERHEAD_BYTES = 262_144
/**
 * Maximum number of interim responses. A slow server may send a few 102 responses; an endless series of them is an
 * attack.
 */
const MAX_INTERIM_RESPONSES = 10

/**
 * Sends one request and collects the answer with undici's lowest-level call, because a stream for each answer would
 * double the cost of a request.
 * @throws the error of undici, the connector or the deadline
 */
export function exchange(
  dispatcher: Dispatcher,
  url: URL,
  request: EgressRequest,
  deadline: Deadline,
): Promise<EgressResponse> {
  const answer = new Answer(request)
  deadline.onEnd(why => answer.fail(why))
  const { method, headers, body = null } = request
  dispatcher.dispatch({ origin: url.origin, path: url.pathname + url.search, method, headers, body }, answer)
  return answer.response
}

/** Collects the answer as it arrives. Reads up to the limit and then closes the connection. */
class Answer implements MeteredHandler {
  readonly #result = Promise.withResolvers<EgressResponse>()
  readonly #maxBytes: number
  readonly #acceptsPart: boolean
  readonly #chunks: Buffer[] = []
  #bytes = 0
  #head: { status: number; headers: Readonly<Record<string, string>> } | undefined
  #interimResponses = 0
  #meter: SocketMeter | undefined
  #controller: Dispatcher.DispatchController | undefined
  #failure: Error | undefined

  constructor({ maxBodyBytes = MAX_BODY_BYTES, partialBody = 'refuse' }: EgressRequest) {
    this.#maxBytes = maxBodyBytes
    this.#acceptsPart = partialBody === 'accept'
  }

  get response(): Promise<EgressResponse> {
    return this.#result.promise
  }

  /** Ends the exchange. Returns the received part if the caller accepts partial bodies. */
  fail(error: Error): void {
    if (this.#failure !== undefined) return
    this.#failure = error
    if (this.#head !== undefined && this.#acceptsPart) this.#resolve(this.#head, false)
    else this.#result.reject(error)
    this.#controller?.abort(error)
  }

  useMeter(meter: SocketMeter): void {
    this.#meter = meter
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    this.#meter?.allow(2 * this.#maxBytes + OVERHEAD_BYTES)
    // The request failed while it waited for a connection.
    if (this.#failure !== undefined) controller.abort(this.#failure)
  }

  onResponseStart(_: unknown, status: number, headers: Record<string, string | string[] | undefined>): void {
    if (status >= 200) this.#head = { status, headers: joinRepeatedHeaders(headers) }
    else if (++this.#interimResponses > MAX_INTERIM_RESPONSES) this.fail(egressFailed('too_many_interim_responses'))
  }

  onResponseData(_: unknown, chunk: Buffer): void {
    const room = this.#maxBytes - this.#bytes
    this.#bytes += chunk.length
    this.#chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk)
    if (chunk.length > room) this.fail(egressFailed('response_too_large'))
  }

  onResponseEnd(): void {
    if (this.#head === undefined) this.fail(egressFailed('response_invalid'))
    else this.#resolve(this.#head, true)
  }

  onResponseError(_: unknown, error: Error): void {
    this.fail(error)
  }

  #resolve(head: { status: number; headers: Readonly<Record<string, string>> }, complete: boolean): void {
    const [first] = this.#chunks
    const body = first !== undefined && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks)
    this.#result.resolve({ ...head, body, complete })
  }
}

function joinRepeatedHeaders(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const all: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) all[name] = Array.isArray(value) ? value.join(', ') : value
  }
  return all
}
