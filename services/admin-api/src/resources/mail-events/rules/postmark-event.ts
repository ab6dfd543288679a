import { z } from 'zod'
import { type MailEvent, type ProviderReport, readAddress, readDetail, readProjectId, readTime } from './mail-event.ts'

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
