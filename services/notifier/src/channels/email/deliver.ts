import { combineAnswers } from '../../domain/combine-mail-answers.ts'
import type { ChannelModule } from '../channel.ts'
import { validAddresses } from './config.ts'
import { mailTo } from './payload.ts'

/** Sends a mail to each of the channel's addresses that takes any, through the installation's mail provider. */
export const emailChannel: ChannelModule<'email'> = {
  kind: 'email',
  concurrency: 2,
  async deliver(channel, request, ports, { branding, suppressed }) {
    const valid = validAddresses(channel)
    if (valid.length === 0) {
      const message =
        "None of the channel's addresses is a plain mail address; correct them, then enable the channel again"
      return { kind: 'not_sendable', reason: 'no_valid_address', message }
    }
    const takesMail = valid.filter(address => !suppressed.has(address.toLowerCase()))
    const reasons = valid.flatMap(address => suppressed.get(address.toLowerCase()) ?? [])
    const sends = takesMail.map(async address => ({
      address,
      answer: await ports.mailer.send(mailTo(address, request, branding, ports), ports.attemptMs),
    }))
    return combineAnswers(await Promise.all(sends), reasons)
  },
}
