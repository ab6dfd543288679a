import type { MessageAnswer } from './answer/answer.ts'

/** One rendered mail. */
export interface Mail {
  /** One addr-spec, without a name. */
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
  /**
   * The delivery's id. The Message-ID consists of it and the recipient, so it is the same for every attempt, and mail
   * programs drop duplicates.
   */
  readonly messageId: string
  /** The project of the alert. Mail providers return it in their reports about the mail. */
  readonly projectId: string
  /** The thread id, equal for all mails of one incident, so that mail programs show them as one conversation. */
  readonly threadId: string
  /** A link that unsubscribes this recipient with one POST (RFC 8058); null for a mail without such a link. */
  readonly unsubscribeUrl: string | null
}

/** Sends mails through the mail server of this installation. */
export interface Mailer {
  /**
   * Sends one mail and returns the server's answer. Never throws because of an answer.
   * @param timeoutMs includes the wait for a free connection
   */
  send(mail: Mail, timeoutMs: number): Promise<MessageAnswer>
  stop(): Promise<void>
}

/**
 * The mailer of an installation without a mail server: its answer to every mail is that no mail server is configured.
 */
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
