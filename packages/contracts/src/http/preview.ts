import { z } from 'zod'
import { Alert } from '../messages/alert.ts'

const EVENTS = Alert.options.map(option => option.shape.event.value)

/** Which message to look at, and in whose look. */
export const PreviewQuery = z.object({
  project_id: z.string().optional(),
  event: z
    .enum([...EVENTS, 'digest'])
    .default('incident.opened')
    .describe('digest: what becomes of a flood of alerts, in Slack'),
  kind: z.enum(['email', 'slack', 'webhook']).default('email'),
  format: z
    .enum(['html', 'text', 'json'])
    .optional()
    .describe(
      'html: as people see it (the default, where there are such people); text: without any form; json: what is sent',
    ),
})
export type PreviewQuery = z.infer<typeof PreviewQuery>
