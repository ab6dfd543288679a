import type { Alert } from '@backstop/contracts'
import type { AlertDescription } from '../alert-text/alert-description.ts'
import { describeAlert } from '../alert-text/describe-alert.ts'
import { linksOf } from '../alert-text/links.ts'
import { linesOf } from '../alert-text/next-steps.ts'
import { cutText } from '../cut-text.ts'

/** The body of a request to a webhook (https://discord.com/developers/docs/resources/webhook#execute-webhook). */
export interface DiscordMessage {
  /** Nobody is mentioned, whatever the texts contain. */
  readonly allowed_mentions: { readonly parse: readonly [] }
  readonly embeds: readonly [DiscordEmbed]
}

interface DiscordEmbed {
  readonly title: string
  readonly description: string
  readonly color: number
  /** ISO 8601 in UTC. */
  readonly timestamp: string
  readonly url?: string
  readonly fields: readonly { readonly name: string; readonly value: string }[]
  readonly footer: { readonly text: string }
}

/**
 * Limits in UTF-16 units, within Discord's limits: 256 for title and names, 4096 for the description, 25 fields, 1024
 * for values, and 6000 in total (https://discord.com/developers/docs/resources/message#embed-object-embed-limits).
 */
const LIMITS = {
  title: 256,
  description: 2_500,
  fields: 24,
  name: 256,
  value: 1_000,
  total: 5_900,
  footer: 400,
} as const

const COLORS: Readonly<Record<AlertDescription['tone'], number>> = {
  alarm: 0xb3261e,
  relief: 0x2f6f44,
  neutral: 0x5865f2,
}

/**
 * Creates the message for one alert.
 * @param publicUrl base URL of links to the console; null for a message without such a link
 */
export function discordMessage(alert: Alert, publicUrl: string | null, brandName: string): DiscordMessage {
  const description = describeAlert(alert)
  const { title, summary, facts, next, tone, ids } = description
  const links = linksOf(description, publicUrl)
  const [first] = links
  const linkField = links
    .map(({ text, url }) => ({ name: text, value: url }))
    .filter(({ value }) => value.length <= LIMITS.value)
  const texts = {
    title: escaped(title, LIMITS.title),
    description: escaped([summary, '', ...linesOf(next)].join('\n'), LIMITS.description),
    footer: { text: cutText(`${brandName} · Reference: ${ids}`, LIMITS.footer) },
  }
  const others = texts.title.length + texts.description.length + texts.footer.text.length
  const left = LIMITS.total - others - lengthOf(linkField)
  return {
    allowed_mentions: { parse: [] },
    embeds: [
      {
        ...texts,
        color: COLORS[tone],
        timestamp: alert.created_at,
        ...(first === undefined ? {} : { url: first.url }),
        fields: [...factFields(facts, left, LIMITS.fields - linkField.length), ...linkField],
      },
    ],
  }
}

/** One field for each fact, at most `most` fields with `left` characters in total. Discord rejects empty values. */
function factFields(facts: AlertDescription['facts'], left: number, most: number) {
  const fields = facts
    .filter(({ label, value }) => label.trim() !== '' && value.trim() !== '')
    .slice(0, most)
    .map(({ label, value }) => ({ name: escaped(label, LIMITS.name), value: escaped(value, LIMITS.value) }))
  while (lengthOf(fields) > left) fields.pop()
  return fields
}

function lengthOf(fields: readonly { name: string; value: string }[]): number {
  return fields.reduce((sum, { name, value }) => sum + name.length + value.length, 0)
}

function escaped(text: string, limit: number): string {
  // A backslash at the end would be the half of an escape.
  return cutText(escapeMarkdown(text), limit).replace(/\\+…$/, '…')
}

/**
 * Escapes Discord's Markdown, mentions and bare links
 * (https://discord.com/developers/docs/reference#message-formatting). A backslash before any other sign than a letter
 * or a digit shows the sign itself.
 */
export function escapeMarkdown(text: string): string {
  return text.replace(/[\\*_~`|>#[\]()<@]|:(?=\/\/)|^[-+](?=\s)/gm, '\\$&')
}
