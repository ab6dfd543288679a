import { z } from 'zod'
import { Timestamp } from '../operation.ts'

/** A name that people choose. */
export const Label = z.string().trim().min(1).max(200)

/** The body of POST /v1/projects. */
export const NewProject = z.strictObject({ name: Label })

const Branding = z.strictObject({
  name: z.string().trim().min(1).max(60).optional().describe('Replaces "Backstop"'),
  logo_url: z
    .url({ protocol: /^https$/, error: 'Give an https URL' })
    .max(2048)
    .optional()
    .describe("https; the reader's mail program loads it"),
  accent_colour: z
    .string()
    .regex(/^#[0-9a-fA-F]{6}$/, 'Give #rrggbb')
    .optional(),
  footer: z.string().trim().max(500).optional().describe('Plain text at the end of each mail'),
})

/** How long people have to decide on an approval by default, in seconds. */
export const DEFAULT_APPROVAL_DEADLINE_S = 86_400

const approval = {
  requires_approval: z
    .boolean()
    .describe(
      'True if requested operations wait for approval; an operation that executes without approval explains nothing',
    ),
  approval_deadline_seconds: z
    .int()
    .min(10)
    .max(30 * 86_400)
    .describe('How long people have to decide; a reminder is sent after half of the time'),
}

/** The body of PATCH /v1/projects/{id}. `branding` is replaced as a whole; {} restores the branding of the installation. */
export const ProjectPatch = z
  .strictObject({ name: Label.optional(), branding: Branding.optional(), ...z.object(approval).partial().shape })
  .refine(patch => Object.keys(patch).length > 0, 'Give at least one field to change')

/** A project as the API answers it. */
export const Project = z.object({
  project_id: z.string(),
  name: z.string(),
  branding: Branding,
  ...approval,
  version: z.int(),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type Project = z.infer<typeof Project>
