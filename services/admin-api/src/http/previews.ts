import { renderMail, SAMPLE_ALERTS } from '@backstop/alert-views'
import { PreviewQuery } from '@backstop/contracts'
import { AppError } from '@backstop/kit'
import { z } from 'zod'
import type { AdminParts } from '../parts.ts'
import { findProject } from './found.ts'
import { MAIL_POLICY } from './pages.ts'
import { defineRoute, type Route } from './route.ts'

const RenderedMail = z.object({ subject: z.string(), text: z.string(), html: z.string() })

/** /v1/previews */
export function previewRoutes({ stores, brandName }: AdminParts): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/v1/previews',
      operationId: 'previewMessage',
      tag: 'Previews',
      summary: 'Look at a message as people get it',
      description:
        'A made-up alert, rendered by what renders real ones, in the look of the project that is named. Slack and webhook messages have no preview yet.',
      scope: 'read',
      query: PreviewQuery,
      answers: {
        200: { description: 'The mail: a page, its text part, or both with the subject', schema: RenderedMail },
      },
      refusals: ['not_found'],
      async handle({ query, principal }) {
        if (query.kind !== 'email') {
          throw new AppError('invalid_request', `Messages of the kind ${query.kind} have no preview yet; ask for email`)
        }
        const project =
          query.project_id === undefined ? undefined : await findProject(stores, principal, query.project_id)
        const { subject, text, html } = renderMail({
          alert: SAMPLE_ALERTS[query.event](project?._id),
          branding: project?.branding ?? {},
          brandName,
          publicUrl: 'https://console.example',
          unsubscribeUrl: 'https://api.example/v1/unsubscribe/preview',
        })
        switch (query.format) {
          case 'html':
            return { status: 200, html, headers: { 'content-security-policy': MAIL_POLICY } }
          case 'text':
            return { status: 200, text }
          case 'json':
            return { status: 200, body: { subject, text, html } }
          default:
            return query.format satisfies never
        }
      },
    }),
  ]
}
