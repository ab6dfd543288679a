import type { Branding, DeliveryRequest } from '@backstop/contracts'
import type { ChannelPorts } from '../channel.ts'
import type { Mail } from '../mailer.ts'
import { renderMail } from './message.ts'
import { unsubscribeUrl } from './unsubscribe-link.ts'

/**
 * The mail to one of a channel's addresses. Each address gets a mail of its own: only it may unsubscribe by its link, and
 * nobody learns who else is told.
 */
export function mailTo(
  address: string,
  { alert, delivery_id, project_id: projectId }: DeliveryRequest,
  branding: Branding,
  {
    publicUrl,
    brandName,
    apiPublicUrl,
    secretBox,
  }: Pick<ChannelPorts, 'publicUrl' | 'brandName' | 'apiPublicUrl' | 'secretBox'>,
): Mail {
  const leave = apiPublicUrl === null ? null : unsubscribeUrl(apiPublicUrl, { projectId, address }, secretBox)
  const content = renderMail({ alert, branding, brandName, publicUrl, unsubscribeUrl: leave })
  return { ...content, to: address, messageId: delivery_id, projectId, unsubscribeUrl: leave }
}
