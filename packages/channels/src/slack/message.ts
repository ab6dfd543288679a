import type { Alert } from '@backstop/contracts'
import type { AlertDescription } from '../alert-text/alert-description.ts'
import { describeAlert } from '../alert-text/describe-alert.ts'
import { type AlertLink, linksOf } from '../alert-text/links.ts'
import { footerOf } from '../alert-text/wording.ts'
import type { MessageSetting } from '../channel.ts'

/** The body of a request to an incoming webhook. `text` is for notifications, and for clients that show no blocks. */
export interface SlackMessage {
  readonly text: string
  readonly blocks?: readonly SlackBlock[]
}

/** The Block Kit blocks used in the messages. */
export type SlackBlock =
  | { readonly type: 'header'; readonly text: SlackText }
  | { readonly type: 'section'; readonly text: SlackText }
  | { readonly type: 'section'; readonly fields: readonly SlackText[] }
  | { readonly type: 'actions'; readonly elements: readonly SlackButton[] }
  | { readonly type: 'context'; readonly elements: readonly SlackText[] }

/**
 * A text in a block. Slack interprets `mrkdwn` and shows `plain_text` unchanged, so plain text cannot mention a person
 * or contain a link.
 */
export interface SlackText {
  readonly type: 'plain_text' | 'mrkdwn'
  readonly text: string
  readonly emoji?: false
  /** For `mrkdwn`: Slack makes no links of the addresses and names in the text. */
  readonly verbatim?: true
}

interface SlackButton {
  readonly type: 'button'
  readonly text: SlackText
  readonly url: string
}

/** Limits in characters (https://api.slack.com/reference/block-kit/blocks). For `text` Slack accepts more. */
const LIMITS = {
  header: 150,
  section: 3000,
  field: 2000,
  fieldsPerSection: 10,
  context: 300,
  text: 4000,
  onlyText: 30_000,
} as const

/** Creates the message for one alert. */
export function slackMessage(alert: Alert, { publicUrl, brandName, reader, alsoSentTo }: MessageSetting): SlackMessage {
  const description = describeAlert(alert, reader)
  const { title, summary, facts, next, reference } = description
  const fields = facts.map(({ label, value }) =>
    mrkdwn(`*${escapeMrkdwn(label)}*\n${escapeMrkdwn(value)}`, LIMITS.field),
  )
  const blocks: SlackBlock[] = [
    { type: 'header', text: plainText(title, LIMITS.header) },
    { type: 'section', text: plainText(summary, LIMITS.section) },
    ...chunksOf(fields, LIMITS.fieldsPerSection).map(chunk => ({ type: 'section' as const, fields: chunk })),
    { type: 'section', text: plainText(next.sentence, LIMITS.section) },
    ...linkBlocks(linksOf(description, publicUrl)),
    { type: 'context', elements: [plainText(footerOf(brandName, reference, alsoSentTo), LIMITS.context)] },
  ]
  return { text: slackText(description), blocks }
}

function chunksOf<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  )
}

function linkBlocks(links: readonly AlertLink[]): SlackBlock[] {
  const buttons = links.map(
    ({ text, url }): SlackButton => ({ type: 'button', text: { type: 'plain_text', text }, url }),
  )
  return buttons.length === 0 ? [] : [{ type: 'actions', elements: buttons }]
}

export function plainText(text: string, limit: number): SlackText {
  return { type: 'plain_text', text: truncate(text, limit), emoji: false }
}

/** @param text already escaped with `escapeMrkdwn` */
export function mrkdwn(text: string, limit: number): SlackText {
  return { type: 'mrkdwn', text: truncate(text, limit), verbatim: true }
}

/** The whole alert as text, for the case that Slack rejects the blocks. */
export function slackWithoutBlocks(alert: Alert, { publicUrl, reader }: MessageSetting): SlackMessage {
  const description = describeAlert(alert, reader)
  const { title, summary, facts, next, reference } = description
  const lines = [
    title,
    summary,
    ...facts.map(({ label, value }) => `${label}: ${value}`),
    next.sentence,
    ...linksOf(description, publicUrl).map(({ text, url }) => `${text}: ${url}`),
    `Reference: ${reference}`,
  ]
  return { text: truncate(lines.map(escapeMrkdwn).join('\n'), LIMITS.onlyText) }
}

/** The alert as text for notifications. */
function slackText({ title, summary, next }: AlertDescription): string {
  return truncate(escapeMrkdwn(`${title}\n${summary} ${next.sentence}`), LIMITS.text)
}

/**
 * Escapes the three characters that start mentions, links and entities
 * (https://api.slack.com/reference/surfaces/formatting).
 */
export function escapeMrkdwn(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')
}

/**
 * Truncates the text to `limit` UTF-16 units, which is never more than `limit` characters as Slack counts them. Never
 * divides a character or an entity of `escapeMrkdwn`.
 */
export function truncate(text: string, limit: number): string {
  if (text.length <= limit) return text
  let kept = ''
  for (const point of text) {
    if (kept.length + point.length > limit - 1) break
    kept += point
  }
  return `${kept.replace(/&[a-z]{0,3}$/, '')}…`
}
