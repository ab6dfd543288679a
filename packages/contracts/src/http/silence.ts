import { z } from 'zod'
import { Timestamp } from '../actions/operation.ts'

/** The longest silence, in seconds: a forgotten silence must not hide a leaked key for months. */
export const MAX_SILENCE_S = 30 * 86_400

/** The body of POST /v1/silences. */
export const NewSilence = z
  .strictObject({
    project_id: z.string(),
    connection_id: z.string(),
    duration_seconds: z
      .int()
      .min(60)
      .max(MAX_SILENCE_S)
      .optional()
      .describe('How long; at most 30 days. Give either this or ends_at'),
    ends_at: z.iso
      .datetime({ offset: true })
      .optional()
      .describe('In place of duration_seconds; at most 30 days from now'),
    reason: z
      .string()
      .trim()
      .min(1)
      .max(500)
      .describe('Why no alert is wanted; shown with the connection and its incidents'),
  })
  .refine(silence => (silence.duration_seconds === undefined) !== (silence.ends_at === undefined), {
    path: ['ends_at'],
    message: 'Give either duration_seconds or ends_at',
  })

/** A silence: a period in which nobody is notified of alerts about a connection. */
export const Silence = z.object({
  silence_id: z.string(),
  project_id: z.string(),
  connection_id: z.string(),
  reason: z.string(),
  state: z.enum(['active', 'ended']),
  created_by: z.string().describe('The API key that created the silence'),
  created_at: Timestamp.describe('When the silence begins'),
  ends_at: Timestamp.describe('When the silence ends or ended'),
  ended_by: z.string().nullable().describe('The API key that ended the silence early; null if it ends by itself'),
})
export type Silence = z.infer<typeof Silence>

/** The silence of a connection or an incident, in short. */
export const SilenceSummary = Silence.pick({ silence_id: true, ends_at: true, created_by: true, reason: true })
export type SilenceSummary = z.infer<typeof SilenceSummary>
