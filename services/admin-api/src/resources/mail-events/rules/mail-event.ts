import { type Command, deterministicId, isoTime } from '@backstop/contracts'
import { z } from 'zod'

/** Bounces and complaints of one address, in a form common to all providers, and the formats of Postmark and SES. */

/** A bounce or complaint of one address. */
export interface MailEvent {
  readonly kind: 'hard_bounce' | 'soft_bounce' | 'complaint'
  readonly address: string
  /** Null if the mail names no project. Then no address can be suppressed. */
  readonly projectId: string | null
  /** Time of the bounce or complaint, ISO 8601 in UTC with milliseconds. */
  readonly at: string
  /** The answer of the receiving server, for people to read. */
  readonly detail: string | null
  /** The provider's id of the report. A repeated report has the same id. */
  readonly reportId: string
}

/** The content of a provider's request: reports, an event that Backstop does not use, or malformed content. */
export type ProviderReport =
  | { readonly kind: 'events'; readonly events: readonly MailEvent[] }
  | { readonly kind: 'ignored'; readonly reason: string }
  | { readonly kind: 'malformed'; readonly reason: string }

/**
 * Reads the project id that every mail contains and that providers return (packages/channels/src/email/smtp-mailer.ts).
 * @returns null if the value is no project id
 */
export function readProjectId(value: unknown): string | null {
  return typeof value === 'string' && /^prj_[0-9a-z]{1,64}$/.test(value) ? value : null
}

const Address = z.email().max(254)

/** The address in `a@b` or `Name <a@b>`, in lower case; undefined if the value is no address. */
export function readAddress(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const bare = /<([^<>]*)>\s*$/.exec(value)?.[1] ?? value.trim()
  const parsed = Address.safeParse(bare.toLowerCase())
  return parsed.success ? parsed.data : undefined
}

/** Parses a provider's time; undefined if the value is no time. */
export function readTime(value: unknown): string | undefined {
  const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(ms) ? undefined : isoTime(ms)
}

/** Joins and truncates the values to the length that a suppression may have, without control characters. */
export function readDetail(...values: readonly unknown[]): string | null {
  const found = values.find(value => typeof value === 'string' && value.trim() !== '')
  return typeof found === 'string'
    ? found
        .replace(/\p{Cc}+/gu, ' ')
        .trim()
        .slice(0, 300)
    : null
}

/** The command for a report. A repeated report gives the same command. */
export function commandOf(format: string, event: MailEvent & { readonly projectId: string }): Command {
  const { kind, address, projectId, at, detail, reportId } = event
  const common = {
    command_id: deterministicId('command', format, reportId, projectId, address),
    project_id: projectId,
    requested_at: at,
    address,
    detail,
  }
  return kind === 'soft_bounce'
    ? { ...common, kind: 'soft_bounce' }
    : { ...common, kind: 'suppress_address', reason: kind }
}

/** Postmark developer documentation, "Bounce webhook" and "Spam complaint webhook": both have this shape. */
const PostmarkEvent = z.object({
  RecordType: z.string(),
  ID: z.union([z.number(), z.string()]).optional(),
  MessageID: z.string().optional(),
  Type: z.string().optional(),
  Email: z.string().optional(),
  BouncedAt: z.string().optional(),
  Description: z.string().nullish(),
  Details: z.string().nullish(),
  Metadata: z.record(z.string(), z.unknown()).nullish(),
})

/** Meaning of the bounce types ("Bounce types", Bounce API). Types that are not listed say nothing about the address. */
const KINDS: Readonly<Record<string, MailEvent['kind']>> = {
  HardBounce: 'hard_bounce',
  BadEmailAddress: 'hard_bounce',
  SpamComplaint: 'complaint',
  SoftBounce: 'soft_bounce',
  Transient: 'soft_bounce',
  DnsError: 'soft_bounce',
  Blocked: 'soft_bounce',
  SpamNotification: 'soft_bounce',
  Unknown: 'soft_bounce',
}

/** Reads Postmark's reports of bounces and complaints. */
export function readPostmarkEvent(given: unknown): ProviderReport {
  const parsed = PostmarkEvent.safeParse(given)
  if (!parsed.success) return { kind: 'malformed', reason: 'The body is not an event of Postmark' }
  const event = parsed.data
  if (event.RecordType !== 'Bounce' && event.RecordType !== 'SpamComplaint')
    return { kind: 'ignored', reason: 'other_event' }
  const kind = KINDS[event.RecordType === 'SpamComplaint' ? 'SpamComplaint' : (event.Type ?? '')]
  if (kind === undefined) return { kind: 'ignored', reason: 'other_bounce' }
  const address = readAddress(event.Email)
  const at = readTime(event.BouncedAt)
  // Postmark's ids exceed the integers that a JavaScript number represents exactly, so the message id is added.
  const id = event.ID === undefined ? event.MessageID : `${event.ID}/${event.MessageID ?? ''}`
  if (address === undefined || at === undefined || id === undefined) {
    return { kind: 'malformed', reason: 'The event lacks Email, BouncedAt or ID' }
  }
  const projectId = readProjectId(event.Metadata?.project)
  const detail = readDetail(event.Details, event.Description)
  return { kind: 'events', events: [{ kind, address, projectId, at, detail, reportId: id }] }
}

const Recipient = z.object({
  emailAddress: z.string(),
  diagnosticCode: z.string().optional(),
  status: z.string().optional(),
})

/**
 * The JSON inside an SNS message (Amazon SES developer guide). "Notification contents" uses the field notificationType, "Event publishing
 * to SNS" uses eventType.
 */
const SesMessage = z.object({
  notificationType: z.string().optional(),
  eventType: z.string().optional(),
  mail: z.object({
    messageId: z.string(),
    headers: z.array(z.object({ name: z.string(), value: z.string() })).optional(),
    tags: z.record(z.string(), z.array(z.string())).optional(),
  }),
  bounce: z
    .object({
      bounceType: z.string(),
      bounceSubType: z.string().optional(),
      bouncedRecipients: z.array(Recipient),
      timestamp: z.string(),
      feedbackId: z.string(),
    })
    .optional(),
  complaint: z
    .object({
      complainedRecipients: z.array(Recipient),
      complaintFeedbackType: z.string().nullish(),
      timestamp: z.string(),
      feedbackId: z.string(),
    })
    .optional(),
})

/** Reads SES reports of bounces and complaints. */
export function readSesMessage(text: string): ProviderReport {
  const parsed = SesMessage.safeParse(readJson(text))
  if (!parsed.success) return { kind: 'malformed', reason: 'The message is not a notification of Amazon SES' }
  const { mail, bounce, complaint, ...names } = parsed.data
  const type = names.notificationType ?? names.eventType
  const projectId = projectOf(mail)
  if (type === 'Bounce' && bounce !== undefined) {
    // The type Undetermined means that SES did not understand the receiving server, so the bounce may be temporary.
    const kind = bounce.bounceType === 'Permanent' ? 'hard_bounce' : 'soft_bounce'
    return toMailEvents(bounce.bouncedRecipients, { kind, projectId, reportId: bounce.feedbackId }, bounce.timestamp)
  }
  if (type === 'Complaint' && complaint !== undefined) {
    // The reader took the mail out of the spam folder (RFC 5965).
    if (complaint.complaintFeedbackType === 'not-spam') return { kind: 'ignored', reason: 'not_spam' }
    const facts = { kind: 'complaint', projectId, reportId: complaint.feedbackId } as const
    return toMailEvents(complaint.complainedRecipients, facts, complaint.timestamp)
  }
  return { kind: 'ignored', reason: 'other_event' }
}

function toMailEvents(
  recipients: readonly z.infer<typeof Recipient>[],
  facts: Pick<MailEvent, 'kind' | 'projectId' | 'reportId'>,
  timestamp: string,
): ProviderReport {
  const at = readTime(timestamp)
  if (at === undefined) return { kind: 'malformed', reason: 'The timestamp of the notification is invalid' }
  const found = recipients.flatMap(({ emailAddress, diagnosticCode, status }) => {
    const address = readAddress(emailAddress)
    return address === undefined ? [] : [{ ...facts, address, at, detail: readDetail(diagnosticCode, status) }]
  })
  return { kind: 'events', events: found }
}

/** Tags are part of event publishing; headers are part of notifications with original headers. */
function projectOf({ tags, headers }: z.infer<typeof SesMessage>['mail']): string | null {
  const header = headers?.find(({ name }) => name.toLowerCase() === 'x-backstop-project')?.value
  return readProjectId(tags?.project?.[0]) ?? readProjectId(header)
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
