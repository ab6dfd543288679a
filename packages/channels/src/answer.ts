import type { EndedAddress, SuppressionReason } from '@backstop/contracts'

/**
 * What came of one attempt, as the channel saw it: facts, no judgement. `classify-outcome.ts` is the only place that
 * judges, for all channels.
 */
export type Answer = MessageAnswer | MailsAnswer

/** What came of one message. */
export type MessageAnswer =
  /** `body`: at most its first KiB. */
  | { kind: 'http'; status: number; retryAfter: string | null; body: string }
  /** The mail server's word on one mail, at the command that it answered. */
  | { kind: 'smtp'; code: number; stage: SmtpStage; text: string }
  /** Nobody answered. `reason` is a closed word, `message` says it to a person. */
  | { kind: 'silence'; reason: string; message: string }
  /** The guard of outgoing requests held it back. */
  | { kind: 'blocked'; reason: string; message: string }
  /** It could not even be tried, for a reason on our side. */
  | { kind: 'not_sendable'; reason: NotSendableReason; message: string }

/** What came of the mails of one attempt, one for each address that this delivery had not ended for. */
export interface MailsAnswer {
  readonly kind: 'mails'
  /** The answer that tells most about how it goes on. */
  readonly said: MessageAnswer
  /** The addresses that this attempt ended the delivery for. */
  readonly ended: readonly Pick<EndedAddress, 'tag' | 'end'>[]
  readonly tally: MailTally
}

/** How many addresses are how far, over all attempts. */
export interface MailTally {
  readonly taken: number
  /** Refused for good. */
  readonly refused: number
  /** To be tried again. */
  readonly open: number
  /** Why addresses were not written to: they want or take no mail. One entry an address. */
  readonly suppressed: readonly SuppressionReason[]
}

/** `sent`: after the content; until then nothing was handed over. */
export type SmtpStage = 'session' | 'sender' | 'recipient' | 'content' | 'sent'

export type NotSendableReason =
  | 'secret_unreadable'
  | 'smtp_not_configured'
  | 'no_valid_address'
  | 'everybody_suppressed'
  | 'internal'
