import type { Alert } from '@backstop/contracts'
import { type DigestDescription, type DigestEntry, describeDigest, distinguish } from '../alert-text/describe-digest.ts'
import type { MessageSetting } from '../channel.ts'
import { escapeMrkdwn, mrkdwn, plainText, type SlackBlock, type SlackMessage, truncate } from './message.ts'

/**
 * Limits in characters, within Slack's limits (https://api.slack.com/reference/block-kit/blocks). Lines are short
 * enough that a full digest fits into 50 blocks even if every character is escaped.
 */
const LIMITS = {
  header: 150,
  section: 2_900,
  line: 150,
  about: 80,
  link: 200,
  context: 300,
  text: 4_000,
  onlyText: 30_000,
} as const

/** Creates one message about all alerts, with a line for each incident. */
export function digestMessage(
  alerts: readonly Alert[],
  { publicUrl, brandName, reader }: MessageSetting,
): SlackMessage {
  const digest = describeDigest(alerts, reader)
  const lines = digest.entries.map(entry => lineOf(entry, publicUrl))
  const blocks: SlackBlock[] = [
    { type: 'header', text: plainText(digest.title, LIMITS.header) },
    { type: 'section', text: plainText([...digest.sums, digest.next.sentence].join('\n'), LIMITS.section) },
    ...sectionsOf(lines).map(text => ({ type: 'section' as const, text: mrkdwn(text, LIMITS.section) })),
    {
      type: 'context',
      elements: [plainText(`${brandName} · one line for each incident, with its last message`, LIMITS.context)],
    },
  ]
  return { text: digestText(digest, LIMITS.text), blocks }
}

/** The digest as text with all lines, for the case that Slack rejects the blocks. */
export function digestWithoutBlocks(alerts: readonly Alert[], { reader }: MessageSetting): SlackMessage {
  return { text: digestText(describeDigest(alerts, reader), LIMITS.onlyText) }
}

function digestText({ title, sums, entries }: DigestDescription, limit: number): string {
  const lines = entries.map(entry => lineOf(entry, null))
  return truncate([`${title}: ${escapeMrkdwn(sums.join('; '))}`, ...lines].join('\n'), limit)
}

function lineOf(entry: DigestEntry, publicUrl: string | null): string {
  // The link needs no escaping, because it consists of the console's address and an encoded id.
  const url = publicUrl === null || entry.path === null ? '' : publicUrl + entry.path
  const link = url.length > LIMITS.link ? '' : url
  const about = shorten(distinguish(entry, link !== ''))
  const title = truncate(entry.title, LIMITS.line - SEPARATOR.length - about.length)
  const line = escapeMrkdwn(title + SEPARATOR + about)
  return link === '' ? `• ${line}` : `• <${link}|${line}>`
}

const SEPARATOR = ' · '

/** Shortens in the middle, because names given by people often differ only at the end. */
function shorten(about: string): string {
  if (about.length <= LIMITS.about) return about
  const half = LIMITS.about / 2
  // Removes the second half of a divided surrogate pair.
  return truncate(about, half) + about.slice(-half).replace(/^[\udc00-\udfff]/, '')
}

/** Joins lines into as few sections as possible, without dividing a line. */
function sectionsOf(lines: readonly string[]): string[] {
  const sections: string[] = []
  for (const line of lines) {
    const last = sections.at(-1)
    if (last !== undefined && last.length + 1 + line.length <= LIMITS.section)
      sections.push(`${sections.pop()}\n${line}`)
    else sections.push(line)
  }
  return sections
}
