import { escapeHtml } from './escape-html.ts'

/** A message as its service shows it. */
export interface MessagePage {
  /** The colour of the message's border: `#rrggbb`. */
  readonly accent: string
  readonly title: string
  /** Makes the title a link. */
  readonly titleUrl?: string | undefined
  /** HTML. */
  readonly body: string
  readonly footer: string
}

const STYLE = `:root{color-scheme:light dark}
body{margin:0;padding:20px;font:15px/22px 'Segoe UI',-apple-system,BlinkMacSystemFont,Roboto,Helvetica,Arial,sans-serif;background:#fff;color:#1b1b1d;overflow-wrap:anywhere}
main{max-width:640px;padding:12px 16px;border:1px solid #d5d5da;border-left-width:4px;border-radius:4px}
h1{margin:4px 0 8px;font-size:18px;line-height:24px}
p{margin:8px 0;white-space:pre-line}
dl{display:grid;grid-template-columns:minmax(96px,30%) 1fr;gap:4px 16px;margin:8px 0}
dt{font-weight:600}
dd{margin:0;white-space:pre-line}
a{color:#0b5cad}
h1 a{text-decoration:none}
.small{margin:4px 0}
.link a{display:inline-block;margin:0 8px 8px 0;padding:4px 12px;border:1px solid #8d8d8d;border-radius:4px;color:inherit;font-weight:600;text-decoration:none}
.footer{font-size:13px;color:#5c5c61}
@media (prefers-color-scheme:dark){a{color:#6cb6ff}body{background:#1f1f22;color:#dcdce0}main{border-color:#45454c}.footer{color:#a9a9b0}}
@media (max-width:480px){dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:8px}}`

/** Renders a preview of a message as an HTML page. */
export function messagePage({ accent, title, titleUrl, body, footer }: MessagePage): string {
  const name = escapeHtml(title)
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${name}</title><style>${STYLE}</style></head>
<body><main style="border-left-color:${escapeHtml(accent)}">
<h1>${titleUrl === undefined ? name : `<a href="${escapeHtml(titleUrl)}">${name}</a>`}</h1>
${body}
<p class="footer">${escapeHtml(footer)}</p>
</main></body></html>
`
}

/** A table of facts as HTML. */
export function factsHtml(facts: readonly { readonly label: string; readonly value: string }[]): string {
  const rows = facts.map(({ label, value }) => `<dt>${escapeHtml(label)}</dt><dd>${escapeHtml(value)}</dd>`)
  return rows.length === 0 ? '' : `<dl>${rows.join('')}</dl>`
}

/** A row of buttons as HTML. */
export function buttonsHtml(links: readonly { readonly text: string; readonly url: string }[]): string {
  const buttons = links.map(({ text, url }) => `<a href="${escapeHtml(url)}">${escapeHtml(text)}</a>`)
  return buttons.length === 0 ? '' : `<p class="link">${buttons.join('')}</p>`
}
