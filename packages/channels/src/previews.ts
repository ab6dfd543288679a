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
import { renderTemplate } from './webhook/template.ts'

/** The previews of all channel kinds. */
const PREVIEWS: { readonly [K in ChannelKind]: (view: PreviewView) => Preview } = {
  webhook: webhookPreview,
  slack: ({ alert, ...setting }) => slackPreview(slackMessage(alert, setting)),
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

/** The previews of the kinds that have digests. */
const DIGEST_PREVIEWS: { readonly [K in ChannelKind]?: (view: DigestPreviewView) => Preview } = {
  slack: ({ alerts, ...setting }) => slackPreview(digestMessage(alerts, setting)),
  email: view => mailPreview(renderDigestMail({ ...view, digestId: 'dlv_sample' })),
}

/** Null for a kind without digests. */
export function previewDigest(kind: ChannelKind, view: DigestPreviewView): Preview | null {
  return DIGEST_PREVIEWS[kind]?.(view) ?? null
}

function webhookPreview({ alert, template }: PreviewView): Preview {
  if (template === undefined) return { body: webhookDocument(alert), text: webhookBody(alert), html: null }
  const text = renderTemplate(template, alert)
  return { body: JSON.parse(text), text, html: null }
}

function slackPreview(message: SlackMessage): Preview {
  return { body: message, text: message.text, html: slackPage(message) }
}

function mailPreview({ subject, text, html }: MailContent): Preview {
  return { body: { subject, text, html }, text, html }
}
