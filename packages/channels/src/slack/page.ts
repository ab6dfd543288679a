import { escapeHtml } from '../escape-html.ts'
import type { SlackBlock, SlackMessage, SlackText } from './message.ts'

const STYLE = `:root{color-scheme:light dark}
body{margin:0;padding:20px;font:15px/22px Lato,-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;background:#fff;color:#1d1c1d;overflow-wrap:anywhere}
main{max-width:680px}
h1{margin:8px 0;font-size:18px;line-height:24px}
p,.fields,.button{margin:8px 0}
.fields{display:grid;grid-template-columns:1fr 1fr;gap:8px 16px}
.button a{display:inline-block;padding:4px 12px;border:1px solid #8d8d8d;border-radius:4px;color:inherit;font-weight:700;text-decoration:none}
.context{font-size:13px;color:#616061}
a{color:#1264a3}
@media (prefers-color-scheme:dark){body{background:#1a1d21;color:#d1d2d3}.context{color:#ababad}a{color:#1d9bd1}}
@media (max-width:480px){.fields{grid-template-columns:1fr}}`

/** Renders a preview of a Slack message as an HTML page. */
export function slackPage(message: SlackMessage): string {
  const blocks = message.blocks ?? [{ type: 'section' as const, text: { type: 'mrkdwn' as const, text: message.text } }]
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${escapeHtml(message.text.split('\n')[0] ?? '')}</title><style>${STYLE}</style></head>
<body><main>
${blocks.map(blockHtml).join('\n')}
</main></body></html>
`
}

function blockHtml(block: SlackBlock): string {
  switch (block.type) {
    case 'header':
      return `<h1>${textHtml(block.text)}</h1>`
    case 'section':
      if ('text' in block) return `<p>${textHtml(block.text)}</p>`
      return `<div class="fields">${block.fields.map(field => `<div>${textHtml(field)}</div>`).join('')}</div>`
    case 'actions': {
      const links = block.elements.map(({ text, url }) => `<a href="${escapeHtml(url)}">${textHtml(text)}</a>`)
      return `<div class="button">${links.join(' ')}</div>`
    }
    case 'context':
      return `<p class="context">${block.elements.map(textHtml).join(' ')}</p>`
    default:
      return block satisfies never
  }
}

/**
 * Converts a text to HTML. In mrkdwn, & < > are already entities (except in our own links), so only quotes, links and
 * bold text are converted.
 */
function textHtml({ type, text }: SlackText): string {
  const html =
    type === 'plain_text'
      ? escapeHtml(text)
      : text
          .replaceAll('"', '&quot;')
          .replace(/<(https?:\/\/[^|<>]+)\|([^<>]*)>/g, '<a href="$1">$2</a>')
          .replace(/^\*(.+)\*$/gm, '<strong>$1</strong>')
  return html.replaceAll('\n', '<br>')
}
