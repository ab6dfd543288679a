import type { ChannelModule } from '../channel.ts'
import { toHttpAnswer } from '../http-answer.ts'
import { openWebhookTarget } from './config.ts'
import { webhookBody, webhookHeaders } from './payload.ts'

/** Posts a signed JSON document to an endpoint of the customer's own. */
export const webhookChannel: ChannelModule<'webhook'> = {
  kind: 'webhook',
  concurrency: 4,
  deliver(channel, request, { egress, secretBox, clock, brandName }) {
    const { url, secret } = openWebhookTarget(channel, secretBox)
    const body = webhookBody(request.alert)
    const headers = {
      'content-type': 'application/json',
      'user-agent': `${brandName.replace(/[^\w-]/g, '')}-Webhooks/1`,
      ...webhookHeaders({ id: request.delivery_id, atMs: clock.now(), body }, secret),
    }
    // The status is the whole answer; a body that is too large or never ends changes nothing about it.
    return toHttpAnswer(
      egress.request({ url, method: 'POST', headers, body, lane: channel._id, partialBody: 'accept' }),
    )
  },
}
