import { type Branding, type DeliveryRequest, UNSUBSCRIBE_PURPOSE, unsubscribeTargetText } from '@backstop/contracts'
import type { SecretBox } from '@backstop/kit'
import type { ChannelModule, ChannelPorts } from '../channel.ts'
import type { Mail } from '../mailer.ts'
import { validAddresses } from './addresses.ts'
import { combineAnswers } from './combine-answers.ts'
import type { EmailConfig } from './form.ts'
import { renderMail } from './message.ts'
import { recipientTag } from './recipient-tag.ts'

/**
 * Sends one mail to each address of the channel through the installation's mail server, except to suppressed addresses
 * and addresses that ended in an earlier attempt.
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
    const endedTags = new Set(ended.map(one => one.tag))
    const open = valid.filter(address => !endedTags.has(recipientTag(address)))
    const recipients = open.filter(address => !suppressed.has(address.toLowerCase()))
    const reasons = open.flatMap(address => suppressed.get(address.toLowerCase()) ?? [])
    // Render all mails before sending the first one, so that all time out together: otherwise the connection of a mail
    // that timed out would send the next mail.
    const mails = recipients.map(address => ({ address, mail: mailTo(address, request, branding, ports) }))
    const sends = mails.map(async ({ address, mail }) => ({
      address,
      answer: await ports.mailer.send(mail, ports.attemptMs),
    }))
    return combineAnswers(await Promise.all(sends), reasons, ended)
  },
}

/** Each address gets its own mail, because the unsubscribe link is personal and recipients must not see each other. */
function mailTo(
  address: string,
  { alert, delivery_id, project_id: projectId }: DeliveryRequest,
  branding: Branding,
  { publicUrl, brandName, apiPublicUrl, secretBox }: ChannelPorts,
): Mail {
  const unsubscribeUrl = apiPublicUrl === null ? null : signedLink(apiPublicUrl, { projectId, address }, secretBox)
  const content = renderMail({ alert, branding, brandName, publicUrl, unsubscribeUrl })
  return { ...content, to: address, messageId: delivery_id, projectId, unsubscribeUrl }
}

/** The unsubscribe link of one address in one project. Every attempt has the same link. */
function signedLink(
  apiPublicUrl: string,
  recipient: { projectId: string; address: string },
  secretBox: SecretBox,
): string {
  return `${apiPublicUrl}/v1/unsubscribe/${secretBox.sign(UNSUBSCRIBE_PURPOSE, unsubscribeTargetText(recipient))}`
}
