import { escapeHtml } from '../escape-html.ts'
import { messagePage } from '../message-page.ts'
import type { Preview, PreviewView } from '../preview.ts'
import { discordMessage } from './message.ts'

export function discordPreview({ alert, ...setting }: PreviewView): Preview {
  const message = discordMessage(alert, setting)
  const { title, description, color, footer, url } = message.embeds[0]
  const html = messagePage({
    accent: `#${color.toString(16).padStart(6, '0')}`,
    title: shown(title),
    titleUrl: url,
    body: description.split('\n\n').map(paragraphHtml).join('\n'),
    footer: footer.text,
  })
  const plain = shown(description.replaceAll('**', '').replace(LINK, '$1: $2'))
  return { body: message, text: [shown(title), plain, footer.text].join('\n'), html }
}

/** The Markdown that a description contains unescaped: our own links, labels and headings. */
const LINK = /(?<!\\)\[([^\]]+)\]\((https?:[^)\s]+)\)/g
const BOLD = /\*\*((?:[^*\\]|\\.)+)\*\*/g

function paragraphHtml(text: string): string {
  return `<p>${shown(escapeHtml(text).replace(LINK, '<a href="$2">$1</a>').replace(BOLD, '<strong>$1</strong>'))}</p>`
}

/** The text as Discord shows it: without the backslashes of `escapeMarkdown`. */
function shown(text: string): string {
  return text.replace(/\\([^0-9A-Za-z\s])/g, '$1')
}
