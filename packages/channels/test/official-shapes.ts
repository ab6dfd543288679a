/** The requests that other services accept, by their public documentation. Test receivers refuse everything else. */
import { z } from 'zod'

const WebLink = z.url({ protocol: /^https?$/ })

/** https://developer.pagerduty.com/docs/send-alert-event */
const PagerDutyRequest = z.discriminatedUnion('event_action', [
  z.strictObject({
    event_action: z.literal('trigger'),
    routing_key: z.string().regex(/^[A-Za-z0-9]{32}$/),
    dedup_key: z.string().max(255),
    client: z.string(),
    client_url: WebLink.optional(),
    links: z.array(z.strictObject({ href: WebLink, text: z.string() })),
    payload: z.strictObject({
      summary: z.string().min(1).max(1024),
      source: z.string().min(1),
      severity: z.enum(['critical', 'error', 'warning', 'info']),
      timestamp: z.iso.datetime(),
      component: z.string(),
      group: z.string(),
      class: z.string(),
      custom_details: z.record(z.string(), z.string()),
    }),
  }),
  z.strictObject({
    event_action: z.enum(['acknowledge', 'resolve']),
    routing_key: z.string().regex(/^[A-Za-z0-9]{32}$/),
    dedup_key: z.string().min(1).max(255),
  }),
])

const SHAPES = { pagerduty: { schema: PagerDutyRequest, maxBytes: 512 * 1024 } }

/** The reason for which the service would refuse the request; undefined if it accepts the request. */
export function refusalOf(service: keyof typeof SHAPES, body: string): string | undefined {
  const { schema, maxBytes } = SHAPES[service]
  if (Buffer.byteLength(body) > maxBytes) return `The body has more than ${maxBytes} bytes`
  const { error } = schema.safeParse(JSON.parse(body))
  return error === undefined ? undefined : z.prettifyError(error)
}
