import type { MessageAnswer } from './answer.ts'

/** One mail, ready to send. */
export interface Mail {
  /** One addr-spec, without a name. */
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
  /**
   * The delivery's id. It and the recipient make the Message-ID, the same for every attempt, by which mail programs drop
   * duplicates.
   */
  readonly messageId: string
  /** Mail providers return it in their reports about the mail. */
  readonly projectId: string
  /** The mails of one incident have the same one, so mail programs show them as one conversation. */
  readonly threadId: string
  /** Unsubscribes this recipient with one POST (RFC 8058); null: the mail has no such link. */
  readonly unsubscribeUrl: string | null
}

/** Sends mails through the mail server of this installation. */
export interface Mailer {
  /**
   * Sends one mail and returns the server's answer. It throws for no answer of a server.
   * @param timeoutMs includes the wait for a free connection
   */
  send(mail: Mail, timeoutMs: number): Promise<MessageAnswer>
  stop(): Promise<void>
}

/** For an installation without a mail server: every mail gets an answer that says so. */
export const noMailer: Mailer = {
  async send() {
    return {
      kind: 'not_sendable',
      reason: 'smtp_not_configured',
      message: 'This installation has no mail server; the operator has to set SMTP_URL and SMTP_FROM',
    }
  },
  async stop() {},
}
