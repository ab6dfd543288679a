import type { IncomingMessage } from 'node:http'
import { AppError } from '@backstop/kit'

/** As much as a notification may hold; far more than any request of the management API. */
export const MAX_BODY_BYTES = 1_048_576

/** application/json, and its relatives such as application/merge-patch+json. */
const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json$/i

/**
 * Reads a request's body as JSON.
 * @returns undefined when there is none
 * @throws AppError `payload_too_large`, `unsupported_media_type`, `unsupported_encoding`, `malformed_json`,
 *   `request_timeout` when the caller hung up in the middle
 */
export async function readJsonBody(request: IncomingMessage): Promise<unknown> {
  const { headers } = request
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
  if (!hasBody) return undefined
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new AppError('unsupported_encoding', 'Send the body as it is, without Content-Encoding')
  }
  const type = (headers['content-type'] ?? '').split(';')[0]?.trim() ?? ''
  if (!JSON_TYPE.test(type)) {
    throw new AppError('unsupported_media_type', 'Send the body as JSON, with Content-Type: application/json')
  }
  return parse(await readBytes(request))
}

/**
 * Reads a request's body as UTF-8 text, whatever its type says; bytes that are none are replaced.
 * @throws AppError `payload_too_large`, `request_timeout`
 */
export async function readTextBody(request: IncomingMessage): Promise<string> {
  return (await readBytes(request)).toString('utf8')
}

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const tooLarge = () => new AppError('payload_too_large', `A body may hold ${MAX_BODY_BYTES} bytes at most`)
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) throw tooLarge()
  const chunks: Buffer[] = []
  let bytes = 0
  return new Promise((resolve, reject) => {
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      // What comes after is dropped as it arrives, until the server's request timeout ends it.
      if (bytes > MAX_BODY_BYTES) reject(tooLarge())
      else chunks.push(chunk)
    })
    request.once('end', () => resolve(Buffer.concat(chunks)))
    request.once('error', cause => reject(new AppError('request_timeout', 'The body did not arrive whole', { cause })))
  })
}

function parse(bytes: Buffer): unknown {
  let text: string
  try {
    // Fatal, because a replaced byte would be stored as something that nobody sent.
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new AppError('malformed_json', 'The body is not valid UTF-8')
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    // Only where it broke: the parser's message quotes the text around it, which may be a secret.
    const position = /position (\d+)/.exec(String(error))?.[1]
    throw new AppError(
      'malformed_json',
      `The body is not valid JSON${position ? `, from character ${position} on` : ''}`,
    )
  }
}
