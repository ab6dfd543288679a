import type { Alert } from '@backstop/contracts'
import { describeAlert } from '../alert-text/describe-alert.ts'

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
}

export interface SlackButton {
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
  url: 3000,
} as const

/**
 * Creates the message for one alert.
 * @param publicUrl base URL of links to the console; null for a message without a button
 */
export function slackMessage(alert: Alert, publicUrl: string | null, brandName: string): SlackMessage {
  const { title, summary, facts, path, reference } = describeAlert(alert)
  const link = publicUrl === null || path === null ? null : publicUrl + path
  const fields = facts
    .slice(0, LIMITS.fieldsPerSection)
    .map(({ label, value }) => mrkdwn(`*${escapeMrkdwn(label)}*\n${escapeMrkdwn(value)}`, LIMITS.field))
  const blocks: SlackBlock[] = [
    { type: 'header', text: plainText(title, LIMITS.header) },
    { type: 'section', text: plainText(summary, LIMITS.section) },
    ...(fields.length > 0 ? [{ type: 'section' as const, fields }] : []),
    ...(link !== null && link.length <= LIMITS.url ? [linkBlock(link)] : []),
    { type: 'context', elements: [plainText(`${brandName} · ${reference}`, LIMITS.context)] },
  ]
  return { text: slackText(alert), blocks }
}

function linkBlock(url: string): SlackBlock {
  return { type: 'actions', elements: [{ type: 'button', text: { type: 'plain_text', text: 'Open' }, url }] }
}

export function plainText(text: string, limit: number): SlackText {
  return { type: 'plain_text', text: truncate(text, limit), emoji: false }
}

/** @param text already escaped with `escapeMrkdwn` */
export function mrkdwn(text: string, limit: number): SlackText {
  return { type: 'mrkdwn', text: truncate(text, limit) }
}

/** The alert as text: for notifications, and as the whole message if Slack rejects the blocks. */
export function slackText(alert: Alert): string {
  const { title, summary } = describeAlert(alert)
  return truncate(escapeMrkdwn(`${title}: ${summary}`), LIMITS.text)
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
