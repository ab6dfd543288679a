import {
  type Preview,
  previewDigest,
  previewMessage,
  SAMPLE_ALERTS,
  SAMPLE_READER,
  WebhookTemplate,
  withoutPersonalData,
} from '@backstop/channels'
import { type Alert, DEFAULT_TIME_ZONE, PreviewQuery, type ProjectDocument } from '@backstop/contracts'
import { z } from 'zod'
import { findProject } from '../../http/find-resource.ts'
import { refusedField } from '../../http/refused-field.ts'
import { defineRoute, type Route, type RouteAnswer } from '../../http/route.ts'
import type { AdminParts } from '../../parts.ts'
import { MESSAGE_POLICY } from '../unsubscribe/pages.ts'

const PreviewAnswer = z.union([
  z.object({ subject: z.string(), text: z.string(), html: z.string() }),
  z.object({ text: z.string(), blocks: z.array(z.record(z.string(), z.unknown())) }),
  z.object({ id: z.string(), event: z.string(), created_at: z.string(), project_id: z.string(), data: z.unknown() }),
  z.record(z.string(), z.unknown()).describe('The body of the request to another service'),
])

/** Target of the unsubscribe links in previews: a reserved domain that belongs to nobody. */
const UNSUBSCRIBE_URL = 'https://api.example/v1/unsubscribe/preview'
/** Number of alerts in a sample digest: more than the limit above which a channel gets a digest. */
const DIGEST_ALERTS = 25

const Query = PreviewQuery.extend({
  template: WebhookTemplate.optional().describe('webhook: the `template` of a channel, also one that is not saved yet'),
})
type Query = z.output<typeof Query>

/** /v1/previews */
export function previewRoutes({ stores, ...installation }: AdminParts): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/v1/previews',
      operationId: 'previewMessage',
      tag: 'Previews',
      summary: 'Preview a message as its recipient gets it',
      description:
        'A sample alert, rendered like a real one, for each kind of channel: a mail with the branding of the project, a message of a chat or a pager, or the document that a webhook receives. `branding` and `template` show settings before they are saved.',
      scope: 'read',
      query: Query,
      answers: {
        200: {
          description: 'By `format`: a page, plain text, or JSON (the parts of a mail, or the body of the request)',
          schema: PreviewAnswer,
          otherMediaTypes: ['text/html', 'text/plain'],
        },
      },
      refusals: ['not_found'],
      async handle({ query, principal }) {
        const { project_id } = query
        const project = project_id === undefined ? undefined : await findProject(stores, principal, project_id)
        return answerOf(query, previewOf(query, project, installation))
      },
    }),
  ]
}

function previewOf(
  { kind, event, template, branding, shows_personal_data }: Query,
  project: ProjectDocument | undefined,
  { brandName, consolePublicUrl }: Pick<AdminParts, 'brandName' | 'consolePublicUrl'>,
): Preview {
  const view = {
    branding: branding ?? project?.branding ?? {},
    brandName,
    publicUrl: consolePublicUrl,
    reader: { ...SAMPLE_READER, timeZone: project?.time_zone ?? DEFAULT_TIME_ZONE },
    unsubscribeUrl: UNSUBSCRIBE_URL,
    template,
  }
  if (template !== undefined && kind !== 'webhook') {
    throw refusedField('query.template', 'Only the requests of a webhook have a template')
  }
  const sampleOf = (alert: Alert) => (shows_personal_data ? alert : withoutPersonalData(alert))
  if (kind === 'webhook' && event === 'storm.reported') {
    throw refusedField('query.event', 'A webhook gets each action of a storm, and no reports about the storm')
  }
  if (event !== 'digest') return previewMessage(kind, { ...view, alert: sampleOf(SAMPLE_ALERTS[event](project?._id)) })
  const digest = previewDigest(kind, { ...view, alerts: digestAlerts(project?._id).map(sampleOf) })
  if (digest !== null) return digest
  throw refusedField('query.event', `Only slack and email have digests; ${kind} gets each alert by itself`)
}

function answerOf({ kind, format }: Query, { body, text, html }: Preview): RouteAnswer {
  if (format === 'text') return { status: 200, text }
  if (format === 'html' && html === null)
    throw refusedField('query.format', `A ${kind} message is read by programs; ask for json or text`)
  return format === 'json' || html === null ? { status: 200, body } : previewPage(html)
}

function digestAlerts(projectId: string | undefined): Alert[] {
  const samples = Object.values(SAMPLE_ALERTS).map(make => make(projectId))
  return Array.from({ length: DIGEST_ALERTS }, (_, index) => samples[index % samples.length] as Alert)
}

function previewPage(html: string): RouteAnswer {
  return { status: 200, html, headers: { 'content-security-policy': MESSAGE_POLICY, 'x-frame-options': 'SAMEORIGIN' } }
}
