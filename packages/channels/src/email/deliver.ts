import type { ChannelModule } from '../channel.ts'
import { validAddresses } from './addresses.ts'
import { combineAnswers } from './combine-answers.ts'
import type { EmailConfig } from './form.ts'
import { mailTo } from './payload.ts'
import { recipientTag } from './recipient-tag.ts'

/**
 * Sends a mail to each of the channel's addresses that takes any and has not ended yet, through the installation's mail
 * provider.
 */
export const emailChannel: ChannelModule<EmailConfig> = {
  kind: 'email',
  concurrency: 2,
  async deliver(channel, request, ports, { branding, suppressed }, ended = []) {
    const valid = validAddresses(channel)
    if (valid.length === 0) {
      const message =
        "None of the channel's addresses is a plain mail address; correct them, then enable the channel again"
      return { kind: 'not_sendable', reason: 'no_valid_address', message }
    }
    const done = new Set(ended.map(one => one.tag))
    const open = valid.filter(address => !done.has(recipientTag(address)))
    const takesMail = open.filter(address => !suppressed.has(address.toLowerCase()))
    const reasons = open.flatMap(address => suppressed.get(address.toLowerCase()) ?? [])
    // All are written before the first is sent, so that their time runs out at once: a connection that one gave up takes no other.
    const mails = takesMail.map(address => ({ address, mail: mailTo(address, request, branding, ports) }))
    const sends = mails.map(async ({ address, mail }) => ({
      address,
      answer: await ports.mailer.send(mail, ports.attemptMs),
    }))
    return combineAnswers(await Promise.all(sends), reasons, ended)
  },
}
