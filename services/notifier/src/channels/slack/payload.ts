import { describeAlert } from '@backstop/alert-views'
import type { Alert } from '@backstop/contracts'

/** A message for an incoming webhook: blocks, and the text for notifications and for clients without blocks. */
export interface SlackMessage {
  readonly text: string
  readonly blocks?: readonly Record<string, unknown>[]
}

/** Slack's limits in characters (https://api.slack.com/reference/block-kit/blocks); `text` is kept well below its own. */
const LIMITS = { header: 150, section: 3000, field: 2000, fieldsPerSection: 10, text: 4000, url: 3000 } as const

/** @param publicUrl base of the console's links; no button without it */
export function slackMessage(alert: Alert, publicUrl: string | null, brandName: string): SlackMessage {
  const { title, summary, facts, path, reference } = describeAlert(alert)
  const link = publicUrl === null || path === null ? null : publicUrl + path
  const fields = facts.slice(0, LIMITS.fieldsPerSection).map(({ label, value }) => ({
    type: 'mrkdwn',
    text: cut(`*${escapeMrkdwn(label)}*\n${escapeMrkdwn(value)}`, LIMITS.field),
  }))
  const blocks: Record<string, unknown>[] = [
    { type: 'header', text: { type: 'plain_text', text: cut(title, LIMITS.header), emoji: false } },
    // plain_text: nothing in it can mention a person, a channel or a link.
    { type: 'section', text: { type: 'plain_text', text: cut(summary, LIMITS.section), emoji: false } },
    ...(fields.length > 0 ? [{ type: 'section', fields }] : []),
    ...(link !== null && link.length <= LIMITS.url
      ? [{ type: 'actions', elements: [{ type: 'button', text: { type: 'plain_text', text: 'Open' }, url: link }] }]
      : []),
    {
      type: 'context',
      elements: [{ type: 'plain_text', text: cut(`${brandName} · ${reference}`, 300), emoji: false }],
    },
  ]
  return { text: slackText(alert), blocks }
}

/** The message without blocks: for notifications, and in place of one whose blocks Slack refused. */
export function slackText(alert: Alert): string {
  const { title, summary } = describeAlert(alert)
  return cut(escapeMrkdwn(`${title}: ${summary}`), LIMITS.text)
}

/** The three characters that start mentions, links and entities (https://api.slack.com/reference/surfaces/formatting). */
export function escapeMrkdwn(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')
}

/**
 * Cuts to a number of UTF-16 units, which is at most Slack's count of characters, never through a character and never
 * through an entity that escaping made.
 */
export function cut(text: string, limit: number): string {
  if (text.length <= limit) return text
  let kept = ''
  for (const point of text) {
    if (kept.length + point.length > limit - 1) break
    kept += point
  }
  return `${kept.replace(/&[a-z]{0,3}$/, '')}…`
}
