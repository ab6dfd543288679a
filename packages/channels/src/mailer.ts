import type { MessageAnswer } from './answer.ts'

/** One mail, ready to be sent. */
export interface Mail {
  /** One addr-spec, without a name. */
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
  /** Of the delivery: with the recipient it makes the Message-ID, the same for every attempt, so that mail programs drop what came twice. */
  readonly messageId: string
  /** Given back by mail providers with what they report of the mail. */
  readonly projectId: string
  /** Names the conversation that mails of one incident belong to. */
  readonly threadId: string
  /** Where this recipient leaves, by one POST (RFC 8058); null where there is no such place. */
  readonly unsubscribeUrl: string | null
}

/** The way to a transactional mail provider. */
export interface Mailer {
  /**
   * Hands one mail over and reports what the server said. It throws for no answer of a server.
   * @param timeoutMs for all of it, the wait for a free connection included
   */
  send(mail: Mail, timeoutMs: number): Promise<MessageAnswer>
  stop(): Promise<void>
}

/** Stands in where no mail server is configured: the channel says so instead of failing silently. */
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
