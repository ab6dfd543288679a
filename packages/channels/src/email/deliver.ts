import { type EndedAddress, type StoredChannel, UNSUBSCRIBE_PURPOSE, unsubscribeTargetText } from '@backstop/contracts'
import { DIGEST_LIMITS } from '../alert-text/describe-digest.ts'
import type { AttemptAnswer } from '../answer/answer.ts'
import { type ChannelModule, type ChannelPorts, type MessageSetting, type ProjectFacts, settingOf } from '../channel.ts'
import type { Mail } from '../mailer.ts'
import { validAddresses } from './addresses.ts'
import { combineAnswers } from './combine-answers.ts'
import { renderDigestMail } from './digest.ts'
import type { EmailConfig } from './form.ts'
import { type MailContent, type MailView, renderMail } from './message.ts'
import { recipientTag } from './recipient-tag.ts'

/**
 * Sends one mail to each address of the channel through the installation's mail server, except to suppressed addresses
 * and addresses that ended in an earlier attempt.
 */
export const emailChannel: ChannelModule<EmailConfig> = {
  kind: 'email',
  audience: 'people',
  concurrency: 2,
  deliver(channel, request, ports, project, ended = []) {
    const { alert, delivery_id: messageId } = request
    const render = (links: MailLinks) =>
      renderMail({ alert, branding: project.branding, ...links, alsoSentTo: request.also_sent_to })
    return sendMails({ channel, messageId, raisedAt: alert.created_at, render }, ports, project, ended)
  },
  digest: {
    ...DIGEST_LIMITS,
    deliver(channel, { digestId, requests }, ports, project, ended) {
      const alerts = requests.map(({ alert }) => alert)
      const render = (links: MailLinks) => renderDigestMail({ alerts, digestId, branding: project.branding, ...links })
      const raisedAt = alerts.map(one => one.created_at).reduce((a, b) => (Date.parse(a) > Date.parse(b) ? a : b))
      return sendMails({ channel, messageId: digestId, raisedAt, render }, ports, project, ended)
    },
  },
}

type MailLinks = MessageSetting & Pick<MailView, 'unsubscribeUrl'>

interface MailToAll {
  readonly channel: StoredChannel<EmailConfig>
  readonly messageId: string
  /** When the newest alert of the mail was raised. */
  readonly raisedAt: string
  render(links: MailLinks): MailContent
}

async function sendMails(
  { channel, messageId, raisedAt, render }: MailToAll,
  ports: ChannelPorts,
  project: ProjectFacts,
  ended: readonly EndedAddress[],
): Promise<AttemptAnswer> {
  const valid = validAddresses(channel)
  if (valid.length === 0) {
    const message =
      "None of the channel's addresses is a plain mail address; correct them, then enable the channel again"
    return { kind: 'not_sendable', reason: 'no_valid_address', message }
  }
  const endedTags = new Set(ended.map(one => one.tag))
  const open = valid.filter(address => !endedTags.has(recipientTag(address)))
  const recipients = open.filter(address => !project.suppressed.has(address.toLowerCase()))
  const reasons = open.flatMap(address => project.suppressed.get(address.toLowerCase()) ?? [])
  const projectId = channel.project_id
  const setting = settingOf(ports, project)
  const mailTo = (address: string): Mail => {
    // Each address gets its own mail, because the unsubscribe link is personal and recipients must not see each other.
    const { apiPublicUrl } = ports
    const target = unsubscribeTargetText({ projectId, address }, raisedAt)
    const unsubscribeUrl =
      apiPublicUrl === null
        ? null
        : `${apiPublicUrl}/v1/unsubscribe/${ports.secretBox.sign(UNSUBSCRIBE_PURPOSE, target)}`
    const content = render({ ...setting, unsubscribeUrl })
    return { ...content, to: address, messageId, projectId, unsubscribeUrl }
  }
  // Render all mails before sending the first one, so that all time out together: otherwise the connection of a mail
  // that timed out would send the next mail.
  const mails = recipients.map(address => ({ address, mail: mailTo(address) }))
  const sends = mails.map(async ({ address, mail }) => ({
    address,
    answer: await ports.mailer.send(mail, ports.attemptMs),
  }))
  return combineAnswers(await Promise.all(sends), reasons, ended)
}
