import type { ChannelModule } from '../channel.ts'
import { validAddresses } from './config.ts'
import { mailContent } from './payload.ts'

/** Sends a mail to the channel's addresses through the installation's mail provider. */
export const emailChannel: ChannelModule<'email'> = {
  kind: 'email',
  concurrency: 2,
  async deliver(channel, { alert, delivery_id }, { mailer, publicUrl, brandName }) {
    const to = validAddresses(channel)
    if (to.length === 0) {
      const message =
        "None of the channel's addresses is a plain mail address; correct them, then make the channel anew"
      return { kind: 'not_sendable', reason: 'no_valid_address', message }
    }
    return mailer.send({ ...mailContent(alert, publicUrl, brandName), to, messageId: delivery_id })
  },
}
