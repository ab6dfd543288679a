import type { IncomingMessage } from 'node:http'
import type { Clock } from '@backstop/kit/clock'
import { AppError } from '@backstop/kit/errors'
import { announcedLength, type ByteBudget, readBody } from '@backstop/kit/http'
import { parseJson } from './parse-json.ts'
import type { Route } from './route.ts'

/** How long a body may take to arrive, in milliseconds. */
const BODY_TIMEOUT_MS = 15_000

/** application/json, and types with the suffix +json such as application/merge-patch+json. */
const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json$/i

/** A body in the form that its route expects. `release` returns its bytes to the memory budget when the body is no longer used. */
export interface ReceivedBody {
  /** Parsed JSON or text; undefined if there is no body. */
  readonly content: unknown
  release(): void
}

const doNothing = () => {}

/** The refusal of a body on a route without one. An empty object is accepted. */
export const unexpectedBody = () => new AppError('invalid_request', 'This path takes no body; send none')

/**
 * Reads the body of a request.
 * @throws AppError `invalid_request` if the route takes no body, `payload_too_large`, `unsupported_media_type`, `unsupported_encoding`,
 * `malformed_json`, `overloaded`, `request_timeout` if the body did not arrive completely
 */
export async function receiveBody(
  request: IncomingMessage,
  { bodyForm, maxBodyBytes }: Pick<Route, 'bodyForm' | 'maxBodyBytes'>,
  { budget, clock }: { budget: ByteBudget; clock: Clock },
): Promise<ReceivedBody> {
  const length = announcedLength(request)
  if (bodyForm === 'ignored') return { content: undefined, release: doNothing }
  if (length === 0) return { content: bodyForm === 'text' ? '' : undefined, release: doNothing }
  const incomplete = (reason: Incomplete) =>
    reason === 'too_large' && bodyForm === 'none' ? unexpectedBody() : incompleteBody(reason, maxBodyBytes)
  if (length !== undefined && length > maxBodyBytes) throw incomplete('too_large')
  if (bodyForm !== 'text') refuseNonJson(request)
  const read = await readBody(request, { maxBytes: maxBodyBytes, timeoutMs: BODY_TIMEOUT_MS, budget }, clock)
  if (read.kind === 'incomplete') throw incomplete(read.reason)
  const release = () => budget.release(read.body.length)
  try {
    return { content: bodyForm === 'text' ? read.body.toString('utf8') : parse(read.body), release }
  } catch (error) {
    release()
    throw error
  }
}

function refuseNonJson({ headers }: IncomingMessage): void {
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new AppError('unsupported_encoding', 'Send the body without Content-Encoding')
  }
  const type = (headers['content-type'] ?? '').split(';')[0]?.trim() ?? ''
  if (!JSON_TYPE.test(type)) {
    throw new AppError('unsupported_media_type', 'Send the body as JSON, with Content-Type: application/json')
  }
}

type Incomplete = Extract<Awaited<ReturnType<typeof readBody>>, { kind: 'incomplete' }>['reason']

function incompleteBody(reason: Incomplete, maxBytes: number): AppError {
  switch (reason) {
    case 'too_large':
      return new AppError('payload_too_large', `The body is larger than ${maxBytes} bytes; send less`)
    case 'too_slow':
      return new AppError('request_timeout', 'The body did not arrive in time; send it without pauses')
    case 'body_broken_off':
      return new AppError('request_timeout', 'The connection closed before the whole body arrived')
    case 'budget_exhausted':
      return new AppError('overloaded', 'Too many request bodies are in flight; retry later')
    default:
      return reason satisfies never
  }
}

function parse(bytes: Buffer): unknown {
  let text: string
  try {
    // `fatal`, because the decoder would otherwise replace invalid bytes, so text that the client did not send would be stored.
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new AppError('malformed_json', 'The body is not valid UTF-8')
  }
  return parseJson(text)
}
