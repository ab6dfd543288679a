import { z } from 'zod'
import { SuppressionReason } from '../messages/command.ts'
import { Timestamp } from '../operation.ts'
import { ListQuery } from './list.ts'

export const SuppressionQuery = ListQuery.extend({ project_id: z.string().optional() })

export const NewSuppression = z.strictObject({ project_id: z.string(), address: z.email().max(254) })

/** An address that gets no more mail of a project. */
export const Suppression = z.object({
  project_id: z.string(),
  address: z.string(),
  reason: SuppressionReason,
  detail: z.string().nullable(),
  suppressed_at: Timestamp,
})
export type Suppression = z.infer<typeof Suppression>

/** Which mail to look at, and in whose look. */
export const PreviewQuery = z.object({
  project_id: z.string().optional(),
  event: z
    .enum([
      'incident.opened',
      'incident.resolved',
      'approval.requested',
      'approval.reminder',
      'approval.expired',
      'cap.threshold',
      'run.failed',
      'channel.test',
    ])
    .default('incident.opened'),
  kind: z.enum(['email', 'slack', 'webhook']).default('email'),
  format: z.enum(['html', 'text', 'json']).default('html'),
})
