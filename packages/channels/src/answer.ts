import type { EndedAddress, SuppressionReason } from '@backstop/contracts'

/** The result of one attempt: facts only. `classify-answer.ts` decides what they mean, for all kinds of channels. */
export type Answer = MessageAnswer | MailsAnswer

/** The result of one message. */
export type MessageAnswer =
  /** `body`: the first KiB at most. */
  | { kind: 'http'; status: number; retryAfter: string | null; body: string }
  /** The mail server's reply for one mail, and the command that it replied to. */
  | { kind: 'smtp'; code: number; stage: SmtpStage; text: string }
  /** The connection, TLS or login failed, or the time ran out. `reason` is from a closed list, `message` is for people. */
  | { kind: 'no_answer'; reason: string; message: string }
  /** The guarded client refused to send the request. */
  | { kind: 'blocked'; reason: string; message: string }
  /** Nothing was sent, for a reason of this installation or of the channel's configuration. */
  | { kind: 'not_sendable'; reason: NotSendableReason; message: string }

/** The result of an attempt that sends one mail to each address for which the delivery has not ended. */
export interface MailsAnswer {
  readonly kind: 'mails'
  /** The answer that decides the next step: that of a mail to retry, if there is one. */
  readonly decisive: MessageAnswer
  /** The addresses for which this attempt ended the delivery. */
  readonly ended: readonly Pick<EndedAddress, 'tag' | 'end'>[]
  readonly tally: MailTally
}

/** The number of addresses in each state, after all attempts. */
export interface MailTally {
  readonly accepted: number
  /** Refused permanently. */
  readonly refused: number
  /** To be retried. */
  readonly pending: number
  /** The reasons of the suppressed addresses that got no mail, one entry for each address. */
  readonly suppressed: readonly SuppressionReason[]
}

/** The part of the SMTP session in which the server replied. `sent`: after the content; before it, no mail was handed over. */
export type SmtpStage = 'session' | 'sender' | 'recipient' | 'content' | 'sent'

export type NotSendableReason =
  | 'secret_unreadable'
  | 'smtp_not_configured'
  | 'no_valid_address'
  | 'everybody_suppressed'
  | 'internal'
