import type { Secret } from '@backstop/kit/config'
import { type EgressResponse, egressReason } from '@backstop/kit/egress'
import { AppError } from '@backstop/kit/errors'
import type { AttemptAnswer } from './answer.ts'
import { maskedFirstKiB } from './first-kib.ts'

/**
 * The answer of an HTTP receiver, or the guarded client's reason for a missing answer.
 * @param sent the secrets in the request or its signature, and their parts, because receivers repeat requests
 */
export async function toHttpAnswer(exchange: Promise<EgressResponse>, sent: readonly Secret[]): Promise<AttemptAnswer> {
  try {
    const { status, headers, body } = await exchange
    return {
      kind: 'http',
      status,
      retryAfter: headers['retry-after'] ?? null,
      body: maskedFirstKiB(body.toString('utf8'), sent),
    }
  } catch (error) {
    const reason = egressReason(error)
    if (!(error instanceof AppError) || reason === undefined) throw error
    const { message } = error
    if (error.code === 'egress_blocked') return { kind: 'blocked', reason, message }
    return { kind: 'no_answer', reason, message }
  }
}
