import { z } from 'zod'
import { ActionMode } from '../actions/action-details.ts'
import { Currency, Timestamp } from '../actions/operation.ts'
import { TimeZone } from '../channels/quiet-hours.ts'
import { ProviderKind } from '../providers.ts'
import { SHOWABLE_TEXT } from '../values/showable-text.ts'
import { BooleanFilter, ListQuery } from './list.ts'

const UNSAFE_NAME = 'Remove control characters, line breaks, and invisible or direction marks'

/**
 * A text without invisible characters. The rule is published in words, because generators and testers of other languages do not know the
 * character classes of JavaScript's patterns.
 */
const showable = (text: z.ZodString, meaning = '') =>
  text
    .refine(value => SHOWABLE_TEXT.test(value), UNSAFE_NAME)
    .describe(`${meaning}No control characters, line breaks, zero-width characters or marks of text direction`)

/** A name that people choose. It appears in messages, where other characters could hide or reorder the text around it. */
export const Label = showable(z.string().trim().min(1).max(200))

/** The body of POST /v1/projects. */
export const NewProject = z.strictObject({
  name: Label,
  demo: z
    .boolean()
    .default(false)
    .describe('true for a project with made-up data: DELETE removes it, and its connections may have a connected_at'),
})

/** The look of a project's mails. */
export const ProjectBranding = z.strictObject({
  name: showable(z.string().trim().min(1).max(60), 'Replaces "Backstop". ').optional(),
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

/** The time zone of the messages of a project that has chosen none. */
export const DEFAULT_TIME_ZONE = 'UTC'

const MESSAGE_ZONE = 'The time zone of the times in messages: a name of the IANA time zone database. UTC by default'

const approval = {
  requires_approval: z
    .boolean()
    .describe(
      'True if requested operations wait for approval; an operation that executes without approval explains nothing. False: no approval is needed, so whoever reports an operation may also report it as `approved`',
    ),
  approval_deadline_seconds: z
    .int()
    .min(10)
    .max(30 * 86_400)
    .describe('How long people have to decide; a reminder is sent after half of the time'),
}

/** The body of PATCH /v1/projects/{id}. `branding` is replaced as a whole; {} restores the branding of the installation. */
export const ProjectPatch = z
  .strictObject({
    name: Label.optional(),
    branding: ProjectBranding.optional(),
    time_zone: TimeZone.optional().describe(MESSAGE_ZONE),
    ...z.object(approval).partial().shape,
    archived: z
      .boolean()
      .optional()
      .describe('true archives the project, which must have no connections; false restores it'),
  })
  .refine(patch => Object.keys(patch).length > 0, 'Give at least one field to change')

/** A project as the API answers it. */
export const Project = z.object({
  project_id: z.string(),
  name: z.string(),
  branding: ProjectBranding,
  time_zone: z.string().describe(MESSAGE_ZONE),
  ...approval,
  demo: z.boolean().describe('True if its data is made up; DELETE removes such a project'),
  archived_at: Timestamp.nullable().describe('When the project was archived; null if it is active'),
  version: z.int(),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type Project = z.infer<typeof Project>

/** The query of GET /v1/projects. */
export const ProjectQuery = ListQuery.extend({
  archived: BooleanFilter.optional().describe('true: only archived projects; otherwise only active ones'),
})

/** The answer of GET /v1/projects/{id}/unresolved. */
export const Unresolved = z.object({
  open: z.int().describe('Open incidents'),
  acknowledged: z.int().describe('Acknowledged incidents'),
  since: Timestamp.nullable().describe('When the oldest of these incidents opened; null if there is none'),
  money: z
    .array(
      z.object({
        currency: Currency,
        mode: ActionMode,
        amount: z.int().describe('The sum in minor units'),
        count: z.int().describe('The refunds in the sum'),
      }),
    )
    .describe(
      'The unexplained refunds of these incidents, without those that moved no money in the end. Live money first',
    ),
  being_checked: z
    .int()
    .describe('Refunds and cancellations that nothing explains so far, and whose second look is not done'),
  approvals_pending: z.int().describe('Operations that wait for an approval'),
})
export type Unresolved = z.infer<typeof Unresolved>

/** The body of POST /v1/projects/{id}/person-erasures: how the customer is named. A record with either name is erased. */
export const NewPersonErasure = z
  .strictObject({
    customer_id: z
      .string()
      .min(1)
      .max(255)
      .optional()
      .describe("The customer's id at the provider, as in `customer.id`"),
    provider: ProviderKind.optional().describe(
      'Where the customer has this id. Without it, customers with the id at any provider are erased',
    ),
    // Providers accept more addresses than a strict check does.
    email: z
      .string()
      .max(320)
      .regex(/^[^ @]+@[^ @]+$/)
      .optional()
      .describe("The customer's e-mail address. Case does not matter"),
  })
  .refine(({ customer_id, email }) => customer_id !== undefined || email !== undefined, {
    message: 'Give customer_id, email or both',
  })
  .refine(({ customer_id, provider }) => provider === undefined || customer_id !== undefined, {
    message: 'Give provider only with customer_id',
  })

/** The erasure of the personal data of one customer, and its progress. It does not show how the customer is named. */
export const PersonErasure = z.object({
  erasure_id: z.string(),
  project_id: z.string(),
  state: z
    .enum(['requested', 'running', 'done'])
    .describe('requested: not started yet. running: it walks twice through all records, ten minutes apart'),
  erased: z
    .object({
      cases: z.int().describe('Payments and subscriptions of the customer'),
      actions: z.int().describe('Refunds and cancellations of these'),
      bodies: z.int().describe('Raw notifications, which were removed'),
      deliveries: z.int().describe('Recorded deliveries of alerts'),
    })
    .describe('Numbers of erased records so far. What a crash made the product repeat may be counted twice'),
  requested_at: Timestamp,
  finished_at: Timestamp.nullable(),
})
export type PersonErasure = z.infer<typeof PersonErasure>
