import { z } from 'zod'
import { ChannelKind } from '../channels/channel-kind.ts'
import { Alert } from '../messages/alert.ts'
import { BooleanFilter, IdFilter } from './list.ts'
import { ProjectBranding } from './project.ts'

const EVENTS = Alert.options.map(option => option.shape.event.value)

/** A branding in a query, as JSON. */
const BrandingFilter = z
  .string()
  .max(4096)
  .transform((text, context) => {
    try {
      return JSON.parse(text) as unknown
    } catch {
      context.addIssue({ code: 'custom', message: 'Give a JSON object' })
      return z.NEVER
    }
  })
  .pipe(ProjectBranding)

/** The query of GET /v1/previews. It selects the message and the project whose branding is used. */
export const PreviewQuery = z.object({
  project_id: IdFilter.optional(),
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
  branding: BrandingFilter.optional().describe(
    'email: JSON that is used instead of the `branding` of the project, for a look that is not saved yet',
  ),
  shows_personal_data: BooleanFilter.default(true).describe(
    'false: the message of a channel that shows no personal data',
  ),
})
export type PreviewQuery = z.infer<typeof PreviewQuery>
