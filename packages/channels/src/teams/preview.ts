import { escapeHtml } from '../escape-html.ts'
import { buttonsHtml, messagePage } from '../message-page.ts'
import type { Preview, PreviewView } from '../preview.ts'
import { type RichTextBlock, type TextColor, teamsMessage } from './message.ts'

const ACCENTS: Readonly<Record<TextColor, string>> = { Attention: '#b3261e', Good: '#2f6f44', Default: '#5b5fc7' }

export function teamsPreview({ alert, ...setting }: PreviewView): Preview {
  const message = teamsMessage(alert, setting)
  const { body, actions } = message.attachments[0].content
  const [title, ...blocks] = body
  const html = messagePage({
    accent: ACCENTS[title?.inlines[0]?.color ?? 'Default'],
    title: textOf(title),
    body: [
      ...blocks.slice(0, -1).map(blockHtml),
      buttonsHtml(actions.map(action => ({ text: action.title, url: action.url }))),
    ].join('\n'),
    footer: textOf(body.at(-1)),
  })
  return { body: message, text: body.map(textOf).join('\n'), html }
}

function blockHtml({ inlines, spacing }: RichTextBlock): string {
  const runs = inlines.map(({ text, weight }) =>
    weight === 'Bolder' ? `<strong>${escapeHtml(text)}</strong>` : escapeHtml(text),
  )
  return `<p${spacing === 'Small' ? ' class="small"' : ''}>${runs.join('')}</p>`
}

function textOf(block: RichTextBlock | undefined): string {
  return (block?.inlines ?? []).map(({ text }) => text).join('')
}
