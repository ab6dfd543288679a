import type { ChannelKind } from '@backstop/contracts'
import { discordPreview } from './discord/preview.ts'
import { renderMail } from './email/message.ts'
import { pagerDutyPreview } from './pagerduty/preview.ts'
import type { Preview, PreviewView } from './preview.ts'
import { slackMessage } from './slack/message.ts'
import { slackPage } from './slack/page.ts'
import { teamsPreview } from './teams/preview.ts'
import { webhookBody, webhookDocument } from './webhook/message.ts'

/** The previews of all channel kinds. */
const PREVIEWS: { readonly [K in ChannelKind]: (view: PreviewView) => Preview } = {
  webhook: ({ alert }) => ({ body: webhookDocument(alert), text: webhookBody(alert), html: null }),
  slack({ alert, publicUrl, brandName }) {
    const message = slackMessage(alert, publicUrl, brandName)
    return { body: message, text: message.text, html: slackPage(message) }
  },
  email(view) {
    const { subject, text, html } = renderMail(view)
    return { body: { subject, text, html }, text, html }
  },
  pagerduty: pagerDutyPreview,
  teams: teamsPreview,
  discord: discordPreview,
}

export function previewMessage(kind: ChannelKind, view: PreviewView): Preview {
  return PREVIEWS[kind](view)
}
