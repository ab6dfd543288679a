import { createHash, timingSafeEqual } from 'node:crypto'
import type { Secret } from '@backstop/kit/config'
import { AppError } from '@backstop/kit/errors'
import { z } from 'zod'
import { parseJson } from '../../http/parse-json.ts'
import { defineRoute, type Route } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import {
  commandOf,
  type MailEvent,
  type ProviderReport,
  readPostmarkEvent,
  readSesMessage,
} from './rules/mail-event.ts'

const ReportCounts = z.object({ taken: z.int(), ignored: z.int() })

const FORMATS: ReadonlySet<string> = new Set(['ses-sns', 'postmark'])
/** A bounce report contains about 10 KiB of the mail's headers. */
const MAX_REPORT_BYTES = 65_536

/** /v1/mail-events/{format}/{token}: mail providers report bounces and complaints here. The token is the credential. */
export function mailEventRoutes({ commands, mailEvents: { token: expected, sns } }: AdminParts): Route[] {
  return [
    defineRoute({
      method: 'post',
      path: '/v1/mail-events/{format}/{token}',
      operationId: 'reportMailEvent',
      tag: 'Mail events',
      summary: 'Receive bounces and complaints from a mail provider',
      description:
        '`format` is `ses-sns` or `postmark`; the token is the setting MAIL_EVENTS_TOKEN. SNS messages need a valid signature and a topic of SES_TOPIC_ARNS. See docs/mail.md.',
      scope: 'public',
      params: z.object({ format: z.string(), token: z.string().max(512) }),
      body: z.string(),
      bodyForm: 'text',
      maxBodyBytes: MAX_REPORT_BYTES,
      answers: { 200: { description: 'How many reports were used, and how many were ignored', schema: ReportCounts } },
      refusals: [
        'not_found',
        'malformed_json',
        'malformed_event',
        'signature_rejected',
        'payload_too_large',
        'overloaded',
        'unavailable',
      ],
      checkCredential({ format, token }) {
        // All three cases get the same answer, so a caller without the token cannot find out which formats exist or whether reports are
        // accepted.
        if (expected === undefined || !isOneOf(token, expected) || !FORMATS.has(format)) {
          throw new AppError('not_found', 'Unknown path for mail events; compare its token with MAIL_EVENTS_TOKEN')
        }
      },
      async handle({ params: { format }, body, now, requestId, logger }) {
        const report = format === 'postmark' ? readPostmarkEvent(parseJson(body)) : await readSns(parseJson(body), now)
        if (report.kind === 'malformed') throw new AppError('malformed_event', report.reason)
        const events = report.kind === 'events' ? report.events : []
        const useful = events.filter(isOfProject)
        await commands.send(useful.map(event => commandOf(format, event)))
        const ignored = events.length - useful.length
        const reason = report.kind === 'ignored' ? report.reason : ignored > 0 ? 'no_project' : undefined
        logger.info({ request_id: requestId, format, accepted: useful.length, ignored, reason }, 'mail_events.accepted')
        return { status: 200, body: { taken: useful.length, ignored: report.kind === 'ignored' ? 1 : ignored } }
      },
    }),
  ]

  async function readSns(given: unknown, now: Date): Promise<ProviderReport> {
    const message = await sns.verify(given, now)
    switch (message.Type) {
      case 'SubscriptionConfirmation':
        await sns.confirm(message)
        return { kind: 'ignored', reason: 'subscription_confirmed' }
      case 'UnsubscribeConfirmation':
        return { kind: 'ignored', reason: 'subscription_ended' }
      case 'Notification':
        return readSesMessage(message.Message)
      default:
        return message.Type satisfies never
    }
  }
}

function isOfProject(event: MailEvent): event is MailEvent & { projectId: string } {
  return event.projectId !== null
}

/** Compares with every token that is accepted during a rotation. */
function isOneOf(given: string, expected: Secret): boolean {
  const matches = expected
    .reveal()
    .split(',')
    .map(token => isSame(given, token))
  return matches.includes(true)
}

/** Compares in constant time: both hashes have the same length for any input. */
function isSame(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(expected))
}
