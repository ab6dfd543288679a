import type { Alert } from '@backstop/contracts'
import type { AlertDescription } from '../alert-text/alert-description.ts'
import { describeAlert } from '../alert-text/describe-alert.ts'
import { type AlertLink, linksOf } from '../alert-text/links.ts'
import { footerOf } from '../alert-text/wording.ts'
import type { MessageSetting } from '../channel.ts'
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
  readonly footer: { readonly text: string }
}

/**
 * Limits in UTF-16 units, within Discord's limits: 256 for the title, 4096 for the description, and 6000 in total
 * (https://discord.com/developers/docs/resources/message#embed-object-embed-limits).
 */
const LIMITS = {
  title: 256,
  description: 4_096,
  summary: 800,
  label: 60,
  value: 300,
  line: 300,
  link: 500,
  footer: 400,
} as const

const COLORS: Readonly<Record<AlertDescription['tone'], number>> = {
  alarm: 0xb3261e,
  relief: 0x2f6f44,
  neutral: 0x5865f2,
}

/** Creates the message for one alert. */
export function discordMessage(
  alert: Alert,
  { publicUrl, brandName, reader, alsoSentTo }: MessageSetting,
): DiscordMessage {
  const description = describeAlert(alert, reader)
  const { title, summary, facts, next, tone, reference } = description
  const links = linksOf(description, publicUrl)
  const [first] = links
  const texts = {
    title: escaped(title, LIMITS.title),
    description: descriptionOf(summary, facts, next.sentence, links),
    footer: { text: cutText(footerOf(brandName, reference, alsoSentTo), LIMITS.footer) },
  }
  return {
    allowed_mentions: { parse: [] },
    embeds: [
      {
        ...texts,
        color: COLORS[tone],
        timestamp: alert.created_at,
        ...(first === undefined ? {} : { url: first.url }),
      },
    ],
  }
}

/**
 * The summary, the facts, what to do, and the links. Embed fields would follow after all other texts, and on a phone each
 * of them takes two lines. Facts that do not fit are left out, the last ones first.
 */
function descriptionOf(
  summary: string,
  facts: AlertDescription['facts'],
  sentence: string,
  links: readonly AlertLink[],
): string {
  const top = escaped(summary, LIMITS.summary)
  const whatToDo = escaped(sentence, LIMITS.line)
  const linkLine = links
    .filter(({ url }) => url.length <= LIMITS.link)
    // A parenthesis would end the link.
    .map(({ text, url }) => `[${text}](${url.replaceAll('(', '%28').replaceAll(')', '%29')})`)
    .join(' · ')
  const lines = facts.map(({ label, value }) => `**${escaped(label, LIMITS.label)}:** ${escaped(value, LIMITS.value)}`)
  const join = () => [top, lines.join('\n'), whatToDo, linkLine].filter(text => text !== '').join('\n\n')
  while (lines.length > 0 && join().length > LIMITS.description) lines.pop()
  return cutText(join(), LIMITS.description)
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
