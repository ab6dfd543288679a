import { z } from 'zod'
import { Timestamp } from '../operation.ts'

export const Label = z.string().trim().min(1).max(200)

export const NewProject = z.strictObject({ name: Label })

const Branding = z.strictObject({
  name: z.string().trim().min(1).max(60).optional().describe('Stands where "Backstop" would'),
  logo_url: z
    .url({ protocol: /^https$/, error: 'Give an https URL' })
    .max(2048)
    .optional()
    .describe("https; fetched by the reader's mail program"),
  accent_colour: z
    .string()
    .regex(/^#[0-9a-fA-F]{6}$/, 'Give #rrggbb')
    .optional(),
  footer: z.string().trim().max(500).optional().describe('Plain text at the end of each mail'),
})

/** How long people have to approve an operation, in seconds, where the project does not say. */
export const DEFAULT_APPROVAL_DEADLINE_S = 86_400

const approval = {
  requires_approval: z
    .boolean()
    .describe(
      'Whether an operation that is requested waits for approval; one that executes without it explains nothing',
    ),
  approval_deadline_seconds: z
    .int()
    .min(10)
    .max(30 * 86_400)
    .describe('How long people have to decide before it expires; they are reminded after half of it'),
}

/** Changes a project. `branding` is replaced whole; an empty object goes back to Backstop's own look. */
export const ProjectPatch = z
  .strictObject({ name: Label.optional(), branding: Branding.optional(), ...z.object(approval).partial().shape })
  .refine(patch => Object.keys(patch).length > 0, 'Name what is to change')

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
