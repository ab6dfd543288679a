import { z } from 'zod'
import { type MailEvent, type ProviderReport, readAddress, readDetail, readProjectId, readTime } from './mail-event.ts'

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
  const parsed = SesMessage.safeParse(parseJson(text))
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

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
