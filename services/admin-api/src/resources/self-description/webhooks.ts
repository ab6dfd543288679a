import { SAMPLE_ALERTS, webhookDocument } from '@backstop/channels'
import { WEBHOOK_EVENTS, webhookSchema } from '@backstop/contracts'

export const WEBHOOKS_TAG = 'Webhooks'

const text = { type: 'string' }
const HEADERS = [
  {
    name: 'webhook-id',
    required: true,
    schema: text,
    description: 'The id of the delivery, the same at every attempt',
  },
  {
    name: 'webhook-timestamp',
    required: true,
    schema: text,
    description: 'When this attempt was made, in seconds since 1970',
  },
  {
    name: 'webhook-signature',
    required: false,
    schema: text,
    description: 'Only with a secret: signatures of Standard Webhooks, separated by spaces',
  },
  {
    name: 'X-Service-Signature',
    required: false,
    schema: text,
    description: 'Only with a secret: `sha256=` and the hex HMAC-SHA256 of the body',
  },
].map(header => ({ ...header, in: 'header' }))

/** The section `webhooks`: the request that a channel of the kind webhook sends for each event, unless it has a template. */
export function describeWebhooks(): Record<string, unknown> {
  return Object.fromEntries(
    WEBHOOK_EVENTS.map(event => {
      const { $schema: _dialect, ...schema } = webhookSchema(event)
      const example = webhookDocument(SAMPLE_ALERTS[event]('prj_01kahq3v7x9m2s5d8f0g4h6j1k'))
      const operation = {
        operationId: `webhook.${event}`,
        tags: [WEBHOOKS_TAG],
        summary: `Backstop delivers the event ${event}`,
        description:
          'A status of 2xx within 20 s acknowledges the delivery. After another answer, or none, the delivery is retried with growing pauses for 72 hours.',
        security: [],
        parameters: HEADERS,
        requestBody: { required: true, content: { 'application/json': { schema, example } } },
        responses: {
          '200': { description: 'The delivery is acknowledged, as by every status of 2xx' },
          '4XX': { description: 'The delivery is retried; after 410 the channel is disabled' },
          '5XX': { description: 'The delivery is retried' },
        },
      }
      return [event, { post: operation }]
    }),
  )
}
