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

/**
 * The card of https://adaptivecards.io/explorer, in the envelope of
 * https://learn.microsoft.com/en-us/power-automate/teams/send-a-message-in-teams
 */
const TeamsRequest = z.strictObject({
  type: z.literal('message'),
  attachments: z
    .array(
      z.strictObject({
        contentType: z.literal('application/vnd.microsoft.card.adaptive'),
        content: z.strictObject({
          $schema: z.literal('http://adaptivecards.io/schemas/adaptive-card.json'),
          type: z.literal('AdaptiveCard'),
          version: z.enum(['1.0', '1.1', '1.2', '1.3', '1.4', '1.5']),
          msteams: z.strictObject({ width: z.literal('Full') }),
          body: z.array(
            z.strictObject({
              type: z.literal('RichTextBlock'),
              spacing: z.enum(['Small', 'Medium']).optional(),
              inlines: z
                .array(
                  z.strictObject({
                    type: z.literal('TextRun'),
                    text: z.string().min(1),
                    weight: z.enum(['Lighter', 'Default', 'Bolder']).optional(),
                    size: z.enum(['Small', 'Default', 'Medium', 'Large', 'ExtraLarge']).optional(),
                    color: z.enum(['Default', 'Dark', 'Light', 'Accent', 'Good', 'Warning', 'Attention']).optional(),
                    isSubtle: z.boolean().optional(),
                  }),
                )
                .min(1),
            }),
          ),
          actions: z
            .array(z.strictObject({ type: z.literal('Action.OpenUrl'), title: z.string().min(1), url: WebLink }))
            .max(6),
        }),
      }),
    )
    .length(1),
})

const EMBED_CHARACTERS = 6_000

/**
 * https://discord.com/developers/docs/resources/webhook#execute-webhook and
 * https://discord.com/developers/docs/resources/message#embed-object-embed-limits
 */
const DiscordRequest = z.strictObject({
  allowed_mentions: z.strictObject({ parse: z.array(z.enum(['roles', 'users', 'everyone'])) }),
  embeds: z
    .array(
      z.strictObject({
        title: z.string().min(1).max(256),
        description: z.string().min(1).max(4096),
        color: z.int().min(0).max(0xffffff),
        timestamp: z.iso.datetime(),
        url: WebLink.optional(),
        fields: z
          .array(z.strictObject({ name: z.string().trim().min(1).max(256), value: z.string().trim().min(1).max(1024) }))
          .max(25)
          .optional(),
        footer: z.strictObject({ text: z.string().max(2048) }),
      }),
    )
    .min(1)
    .max(10)
    .refine(embeds => {
      const texts = embeds.flatMap(({ title, description, fields = [], footer }) => [
        title,
        description,
        footer.text,
        ...fields.flatMap(({ name, value }) => [name, value]),
      ])
      return texts.join('').length <= EMBED_CHARACTERS
    }, `All texts of the embeds together have more than ${EMBED_CHARACTERS} characters`),
})

const SHAPES = {
  pagerduty: { schema: PagerDutyRequest, maxBytes: 512 * 1024 },
  discord: { schema: DiscordRequest, maxBytes: 8 * 1024 * 1024 },
  teams: { schema: TeamsRequest, maxBytes: 28_000 },
}

/** The reason for which the service would refuse the request; undefined if it accepts the request. */
export function refusalOf(service: keyof typeof SHAPES, body: string): string | undefined {
  const { schema, maxBytes } = SHAPES[service]
  if (Buffer.byteLength(body) > maxBytes) return `The body has more than ${maxBytes} bytes`
  const { error } = schema.safeParse(JSON.parse(body))
  return error === undefined ? undefined : z.prettifyError(error)
}
