import type { SuppressionReason } from '@backstop/contracts'

/**
 * What came of one attempt, as the channel saw it: facts, no judgement. `classify-outcome.ts` is the only place that
 * judges, for all channels.
 */
export type Answer =
  /** `body`: at most its first KiB. */
  | { kind: 'http'; status: number; retryAfter: string | null; body: string }
  /** The mail server's word on the whole mail, at the command that it answered. */
  | {
      kind: 'smtp'
      code: number
      stage: SmtpStage
      text: string
      refused: readonly RefusedAddress[]
      /** Addresses that were not written to, because they want or take no mail. */
      suppressed?: readonly SuppressionReason[]
    }
  /** Nobody answered. `reason` is a closed word, `message` says it to a person. */
  | { kind: 'silence'; reason: string; message: string }
  /** The guard of outgoing requests held it back. */
  | { kind: 'blocked'; reason: string; message: string }
  /** It could not even be tried, for a reason on our side. */
  | { kind: 'not_sendable'; reason: NotSendableReason; message: string }

/** `sent`: after the content; until then nothing was handed over. */
export type SmtpStage = 'session' | 'sender' | 'recipient' | 'content' | 'sent'

/** A recipient that did not get the mail while others did. `code`: the server's reply; 0 where there was none. */
export interface RefusedAddress {
  readonly address: string
  readonly code: number
}

export type NotSendableReason =
  | 'secret_unreadable'
  | 'smtp_not_configured'
  | 'no_valid_address'
  | 'everybody_suppressed'
  | 'internal'
