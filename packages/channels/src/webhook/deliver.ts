import { toHttpAnswer } from '../answer/http-answer.ts'
import type { ChannelModule } from '../channel.ts'
import type { WebhookConfig } from './form.ts'
import { secretsInHeader } from './header-secrets.ts'
import { webhookBody } from './message.ts'
import { webhookHeaders } from './signature.ts'
import { openWebhookTarget } from './target.ts'
import { renderTemplate } from './template.ts'

/** Posts a signed JSON document to the customer's endpoint. */
export const webhookChannel: ChannelModule<WebhookConfig> = {
  kind: 'webhook',
  audience: 'programs',
  concurrency: 4,
  deliver(channel, request, { egress, secretBox, clock, brandName, attemptMs }) {
    const { url, secrets, headers: own } = openWebhookTarget(channel, secretBox, clock.now())
    const { template } = channel.config
    // The bytes are made once, and both signatures and the request use them.
    const body = Buffer.from(template == null ? webhookBody(request.alert) : renderTemplate(template, request.alert))
    const headers = {
      ...Object.fromEntries([...own].map(([name, value]) => [name, value.reveal()])),
      'content-type': 'application/json',
      'user-agent': `${brandName.replace(/[^\w-]/g, '')}-Webhooks/1`,
      ...webhookHeaders({ id: request.delivery_id, atMs: clock.now(), body }, secrets),
    }
    const exchange = egress.request({
      url,
      method: 'POST',
      headers,
      body,
      lane: channel._id,
      timeoutMs: attemptMs,
      // Only the status decides, so a body that is too large or endless is accepted in part.
      partialBody: 'accept',
    })
    return toHttpAnswer(exchange, [...secrets, ...[...own.values()].flatMap(secretsInHeader)])
  },
}
