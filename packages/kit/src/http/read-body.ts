import type { IncomingMessage } from 'node:http'
import type { Clock } from '../clock/clock.ts'
import type { ByteBudget } from './byte-budget.ts'

export interface BodyLimits {
  readonly maxBytes: number
  /** How long the body may take to arrive, in milliseconds. */
  readonly timeoutMs: number
  readonly budget: ByteBudget
}

export type BodyResult =
  /** The bytes are reserved in the budget: the caller releases them when it does not need the body any more. */
  | { readonly kind: 'complete'; readonly body: Buffer }
  | { readonly kind: 'incomplete'; readonly reason: 'too_large' | 'too_slow' | 'budget_exhausted' | 'body_broken_off' }

/** Reads a whole body and reserves its bytes in the budget as they arrive. An incomplete body releases its bytes. */
export async function readBody(request: IncomingMessage, limits: BodyLimits, clock: Clock): Promise<BodyResult> {
  // Promises continue after the first part of the body, if it was received together with the headers. Most bodies are one part.
  await null
  // Its 'close' was emitted before anyone listened.
  if (request.destroyed) return { kind: 'incomplete', reason: 'body_broken_off' }
  const { readableLength } = request
  const hasArrived = readableLength === announcedLength(request) && readableLength <= limits.maxBytes
  return hasArrived ? takeArrived(request, limits.budget) : awaitBody(request, limits, clock)
}

function takeArrived(request: IncomingMessage, budget: ByteBudget): BodyResult {
  // Without a length, Node.js 26 reads only the first buffer (nodejs/node#60441).
  const body: Buffer = request.read(request.readableLength) ?? Buffer.alloc(0)
  // Lets the request end, which Node.js waits for.
  request.resume()
  return budget.reserve(body.length) ? { kind: 'complete', body } : { kind: 'incomplete', reason: 'budget_exhausted' }
}

function awaitBody(request: IncomingMessage, limits: BodyLimits, clock: Clock): Promise<BodyResult> {
  return new Promise(resolve => {
    const chunks: Buffer[] = []
    let size = 0
    let budgeted = 0
    // A flag instead of removing the listeners, which would cost as much as the rest of this function.
    let isDone = false
    const finish = (result: BodyResult) => {
      if (isDone) return
      isDone = true
      cancel()
      if (result.kind === 'incomplete') limits.budget.release(budgeted)
      resolve(result)
    }
    const fail = (reason: Extract<BodyResult, { kind: 'incomplete' }>['reason']) =>
      finish({ kind: 'incomplete', reason })
    const cancel = clock.schedule(limits.timeoutMs, () => fail('too_slow'))
    request.on('data', (chunk: Buffer) => {
      if (isDone) return
      size += chunk.length
      if (size > limits.maxBytes) return fail('too_large')
      if (!limits.budget.reserve(chunk.length)) return fail('budget_exhausted')
      budgeted += chunk.length
      chunks.push(chunk)
    })
    request.on('end', () =>
      finish({ kind: 'complete', body: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size) }),
    )
    // Node.js emits 'close' after every interruption of a request.
    request.on('close', () => fail('body_broken_off'))
  })
}

/** The announced length of the body; undefined for a chunked body, 0 for no body. */
export function announcedLength(request: IncomingMessage): number | undefined {
  if (request.headers['transfer-encoding'] !== undefined) return undefined
  return Number(request.headers['content-length'] ?? '0')
}

/** The longest body that is dropped after an early answer. Its bytes probably arrived with the headers, or are on their way. */
const MAX_DROPPED_BODY_BYTES = 65_536
/** Lengths of the names of the headers that decide, so that most names are not compared. */
const DECISIVE_LENGTHS = new Set(['transfer-encoding', 'expect', 'content-length'].map(name => name.length))

/**
 * True if the socket can be used for the next request after an answer that did not wait for the body: the body is short or absent, its
 * length is known, and the client sends it without being asked.
 */
export function hasShortBody({ rawHeaders }: IncomingMessage): boolean {
  let length = 0
  // Reads the raw list, because Node.js creates an object of all headers for the first use of `headers`.
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string
    if (!DECISIVE_LENGTHS.has(name.length)) continue
    const lowerCase = name.toLowerCase()
    if (lowerCase === 'transfer-encoding' || lowerCase === 'expect') return false
    if (lowerCase === 'content-length') length = Number(rawHeaders[at + 1])
  }
  return length <= MAX_DROPPED_BODY_BYTES
}
