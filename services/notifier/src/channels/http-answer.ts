import { AppError, type EgressResponse, egressReason, maskSecrets } from '@backstop/kit'
import type { Answer } from '../domain/answer.ts'

const STORED_BYTES = 1024

/** The answer of an HTTP receiver, or of the guarded client in its place. */
export async function toHttpAnswer(exchange: Promise<EgressResponse>): Promise<Answer> {
  try {
    const { status, headers, body } = await exchange
    return { kind: 'http', status, retryAfter: headers['retry-after'] ?? null, body: firstKiB(body) }
  } catch (error) {
    const reason = egressReason(error)
    if (!(error instanceof AppError) || reason === undefined) throw error
    const { message } = error
    return error.code === 'egress_blocked' ? { kind: 'blocked', reason, message } : { kind: 'silence', reason, message }
  }
}

/** The first KiB as text, with what looks like a secret masked: receivers like to echo what they were sent. */
export function firstKiB(body: Buffer): string {
  return maskSecrets(
    body
      .subarray(0, STORED_BYTES)
      .toString('utf8')
      .replace(/\ufffd$/, ''),
  )
}
