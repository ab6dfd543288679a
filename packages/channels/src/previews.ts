import type { Alert, ChannelKind } from '@backstop/contracts'
import { discordPreview } from './discord/preview.ts'
import { renderDigestMail } from './email/digest.ts'
import { type MailContent, renderMail } from './email/message.ts'
import { pagerDutyPreview } from './pagerduty/preview.ts'
import type { Preview, PreviewView } from './preview.ts'
import { digestMessage } from './slack/digest.ts'
import { type SlackMessage, slackMessage } from './slack/message.ts'
import { slackPage } from './slack/page.ts'
import { teamsPreview } from './teams/preview.ts'
import { webhookBody, webhookDocument } from './webhook/message.ts'

/** The previews of all channel kinds. */
const PREVIEWS: { readonly [K in ChannelKind]: (view: PreviewView) => Preview } = {
  webhook: ({ alert }) => ({ body: webhookDocument(alert), text: webhookBody(alert), html: null }),
  slack: ({ alert, publicUrl, brandName }) => slackPreview(slackMessage(alert, publicUrl, brandName)),
  email: view => mailPreview(renderMail(view)),
  pagerduty: pagerDutyPreview,
  teams: teamsPreview,
  discord: discordPreview,
}

export function previewMessage(kind: ChannelKind, view: PreviewView): Preview {
  return PREVIEWS[kind](view)
}

/** The sample of a digest. */
export type DigestPreviewView = Omit<PreviewView, 'alert'> & { readonly alerts: readonly Alert[] }

/** Null for a kind without digests. */
export function previewDigest(kind: ChannelKind, view: DigestPreviewView): Preview | null {
  switch (kind) {
    case 'slack':
      return slackPreview(digestMessage(view.alerts, view.publicUrl, view.brandName))
    case 'email':
      return mailPreview(renderDigestMail({ ...view, digestId: 'dlv_sample' }))
    case 'webhook':
    case 'pagerduty':
    case 'teams':
    case 'discord':
      return null
    default:
      return kind satisfies never
  }
}

function slackPreview(message: SlackMessage): Preview {
  return { body: message, text: message.text, html: slackPage(message) }
}

function mailPreview({ subject, text, html }: MailContent): Preview {
  return { body: { subject, text, html }, text, html }
}
