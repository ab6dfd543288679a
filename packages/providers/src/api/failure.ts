import { type EgressReason, egressReason } from '@backstop/kit/egress'
import { AppError } from '@backstop/kit/errors'
import type { ReadFailure, ReadResult } from '../read-back.ts'

/** A read that failed. */
export type Failed = Extract<ReadResult, { kind: 'failed' }>

/** The text of each failure with its remedy. It follows the provider's name. */
const TEXTS: Readonly<Record<ReadFailure, string>> = {
  key_refused: 'refuses the read key; make a new read-only key there and store it on the connection',
  rate_limited: 'allows no more requests for now',
  provider_unavailable: 'is not available for now',
  unreachable: 'cannot be reached, or did not answer in time',
  address_refused: 'is at an address that may not be reached from here; check api_base, or have its network allowed',
  answer_malformed: 'answered something else than its API promises; check api_base',
  question_refused: 'does not take the question; check what the read key may read',
}

/**
 * A failure with its text for people.
 * @param who the provider as the beginning of a sentence
 * @param detail a status or an error code, never the provider's message, which may repeat a part of the key
 */
export function failed(failure: ReadFailure, who: string, detail: string, retryAfterMs: number | null = null): Failed {
  return { kind: 'failed', failure, text: `${who} ${TEXTS[failure]} (${detail})`, retryAfterMs }
}

/** The text by which `last_error` of a sweep shows that the provider refuses the read key. */
export const KEY_REFUSED_TEXT = TEXTS.key_refused

/** The reasons of the egress that mean that the answer is not from the provider's API. */
const UNUSABLE_ANSWERS: ReadonlySet<EgressReason> = new Set([
  'response_too_large',
  'raw_response_too_large',
  'response_headers_too_large',
  'too_many_interim_responses',
  'response_invalid',
])

/** The failure for a request without an answer. */
export function failedRequest(error: unknown, who: string): Failed {
  const reason = egressReason(error) ?? 'unknown'
  if (error instanceof AppError && error.code === 'egress_blocked') return failed('address_refused', who, reason)
  return failed(UNUSABLE_ANSWERS.has(reason) ? 'answer_malformed' : 'unreachable', who, reason)
}
