import type { Alert, Branding } from '@backstop/contracts'
import type { MessageSetting } from './channel.ts'

/** The sample of a message: an alert and the settings that change its look. */
export interface PreviewView extends MessageSetting {
  readonly alert: Alert
  readonly branding: Branding
  readonly unsubscribeUrl: string
  /** The body of a webhook that has a template of its own. */
  readonly template?: string | undefined
}

/** A message in the formats of a preview. */
export interface Preview {
  /** The message as it is sent. Contains no secret of a channel. */
  readonly body: unknown
  readonly text: string
  /** A page that shows the message; null for a kind whose messages only programs read. */
  readonly html: string | null
}
