import type { Alert } from '@backstop/contracts'
import { describeAlert } from '../alert-text/describe-alert.ts'
import { cut, escapeMrkdwn, mrkdwn, plainText, type SlackBlock, type SlackMessage } from './message.ts'

/**
 * More alerts waiting than this are told in one message (guides: reliability §7). At most so many, so that each has a line
 * of its own and the message stays one that a person reads.
 */
export const SLACK_DIGEST = { above: 20, most: 100 } as const

/**
 * Slack's limits in characters (https://api.slack.com/reference/block-kit/blocks), a section's kept below its own. A line
 * is so short that all of them fit into 50 blocks even when every character of theirs has to be escaped.
 */
const LIMITS = {
  header: 150,
  section: 2_900,
  line: 150,
  reference: 80,
  link: 200,
  context: 300,
  text: 4_000,
  onlyText: 30_000,
} as const

/**
 * One message that names every alert of a flood, in the order in which they were raised.
 * @param publicUrl base of the console's links; names without links without it
 */
export function digestMessage(alerts: readonly Alert[], publicUrl: string | null, brandName: string): SlackMessage {
  const title = `${alerts.length} alerts at once`
  const lines = alerts.map(alert => lineOf(alert, publicUrl))
  const blocks: SlackBlock[] = [
    { type: 'header', text: plainText(title, LIMITS.header) },
    ...sectionsOf(lines).map(text => ({ type: 'section' as const, text: mrkdwn(text, LIMITS.section) })),
    {
      type: 'context',
      elements: [plainText(`${brandName} · each of these would have been a message of its own`, LIMITS.context)],
    },
  ]
  return { text: digestText(alerts, LIMITS.text), blocks }
}

/** The digest in words, in place of one whose blocks Slack refused: it still names every alert. */
export function digestWithoutBlocks(alerts: readonly Alert[]): SlackMessage {
  return { text: digestText(alerts, LIMITS.onlyText) }
}

function digestText(alerts: readonly Alert[], limit: number): string {
  return cut([`${alerts.length} alerts at once:`, ...alerts.map(alert => lineOf(alert, null))].join('\n'), limit)
}

function lineOf(alert: Alert, publicUrl: string | null): string {
  const { title, path, reference } = describeAlert(alert)
  const id = shorten(reference)
  const name = escapeMrkdwn(`${cut(title, LIMITS.line - SEPARATOR.length - id.length)}${SEPARATOR}${id}`)
  // The link is made of the console's address and an encoded id: nothing in it can end it early.
  const link = publicUrl === null || path === null ? '' : publicUrl + path
  return link === '' || link.length > LIMITS.link ? `• ${name}` : `• <${link}|${name}>`
}

const SEPARATOR = ' · '

/** Keeps both ends: names that people make up differ at their end as often as at their beginning. */
function shorten(reference: string): string {
  if (reference.length <= LIMITS.reference) return reference
  const half = LIMITS.reference / 2
  // A tail that begins with the second half of a character would be none.
  return cut(reference, half) + reference.slice(-half).replace(/^[\udc00-\udfff]/, '')
}

/** Lines packed into as few texts as fit; none is cut through. */
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
