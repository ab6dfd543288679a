import type { EndedAddress, SuppressionReason } from '@backstop/contracts'

/** The result of one attempt, without judgement. `classify-answer.ts` decides the meaning for all kinds of channels. */
export type AttemptAnswer = MessageAnswer | MailsAnswer

/** The result of one message. */
export type MessageAnswer =
  /** `body` contains at most the first KiB. */
  | { kind: 'http'; status: number; retryAfter: string | null; body: string }
  /** The mail server's reply for one mail, and the command that it replied to. */
  | { kind: 'smtp'; code: number; stage: SmtpStage; text: string }
  /**
   * The connection, the TLS handshake or the login failed, or the time limit was reached. `reason` is from a closed
   * list, `message` is for people.
   */
  | { kind: 'no_answer'; reason: string; message: string }
  /** The guarded client refused to send the request. */
  | { kind: 'blocked'; reason: string; message: string }
  /** Nothing was sent because of a fault of this installation or of the channel's configuration. */
  | { kind: 'not_sendable'; reason: NotSendableReason; message: string }

/** The result of an attempt that sends one mail to each remaining address. */
export interface MailsAnswer {
  readonly kind: 'mails'
  /** The answer that decides the next step: the answer to a mail that must be retried, if there is one. */
  readonly decisive: MessageAnswer
  /** The addresses that get no further mail of this delivery. */
  readonly ended: readonly Pick<EndedAddress, 'tag' | 'end'>[]
  readonly tally: MailTally
}

/** The number of addresses in each state, after all attempts. */
export interface MailTally {
  readonly accepted: number
  /** Refused permanently. */
  readonly refused: number
  /** The mail must be retried. */
  readonly pending: number
  /** The reasons of the suppressed addresses that got no mail, one entry for each address. */
  readonly suppressed: readonly SuppressionReason[]
}

/**
 * The step of the SMTP session that the server replied to. `sent`: the content was transmitted; at every earlier step
 * the mail was not handed over.
 */
export type SmtpStage = 'session' | 'sender' | 'recipient' | 'content' | 'sent'

export type NotSendableReason =
  | 'secret_unreadable'
  | 'smtp_not_configured'
  | 'no_valid_address'
  | 'everybody_suppressed'
  | 'internal'
