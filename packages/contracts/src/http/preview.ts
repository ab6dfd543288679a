import { z } from 'zod'
import { ChannelKind } from '../channel-kind.ts'
import { Alert } from '../messages/alert.ts'

const EVENTS = Alert.options.map(option => option.shape.event.value)

/** The query of GET /v1/previews. It selects the message and the project whose branding is used. */
export const PreviewQuery = z.object({
  project_id: z.string().optional(),
  event: z
    .enum([...EVENTS, 'digest'])
    .default('incident.opened')
    .describe('digest: many alerts in one message of slack or email'),
  kind: ChannelKind.default('email'),
  format: z
    .enum(['html', 'text', 'json'])
    .optional()
    .describe(
      'html: a page that shows the message (the default, except for webhooks); text: plain text; json: the message as it is sent',
    ),
})
export type PreviewQuery = z.infer<typeof PreviewQuery>
