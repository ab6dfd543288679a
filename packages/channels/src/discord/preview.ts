import { messagePage } from '../message-page.ts'
import type { Preview, PreviewView } from '../preview.ts'
import { discordMessage } from './message.ts'

export function discordPreview({ alert, publicUrl, brandName }: PreviewView): Preview {
  const message = discordMessage(alert, publicUrl, brandName)
  const { title, description, color, fields, footer, url } = message.embeds[0]
  const facts = fields.map(({ name, value }) => ({ label: shown(name), value: shown(value) }))
  const html = messagePage({
    accent: `#${color.toString(16).padStart(6, '0')}`,
    title: shown(title),
    texts: [shown(description)],
    facts,
    links: url === undefined ? [] : [{ text: 'Open', url }],
    footer: footer.text,
  })
  const lines = [
    shown(title),
    shown(description),
    ...facts.map(({ label, value }) => `${label}: ${value}`),
    footer.text,
  ]
  return { body: message, text: lines.join('\n'), html }
}

/** The text as Discord shows it: without the backslashes of `escapeMarkdown`. */
function shown(text: string): string {
  return text.replace(/\\([^0-9A-Za-z\s])/g, '$1')
}
