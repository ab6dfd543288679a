import { createHash } from 'node:crypto'
import { escapeHtml } from '@backstop/channels'

const STYLE = `:root{color-scheme:light dark}
body{margin:0;font:16px/24px -apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;background:#f2f4f7;color:#344054}
main{box-sizing:border-box;max-width:480px;margin:12vh auto 0;padding:32px;background:#fff;border-radius:8px}
h1{margin:0 0 12px;font-size:20px;line-height:28px;color:#101828}
p{margin:0}
form{margin:24px 0 0}
a{display:inline-block;margin:24px 0 0;color:inherit}
button{font:inherit;font-weight:600;padding:10px 18px;border:0;border-radius:6px;background:#344054;color:#fff;cursor:pointer}
button:focus-visible{outline:3px solid #84caff;outline-offset:2px}
@media (prefers-color-scheme:dark){body{background:#0c111d;color:#d0d5dd}main{background:#161b26}h1{color:#f5f5f6}button{background:#e4e7ec;color:#101828}}
@media (max-width:520px){main{margin-top:0;border-radius:0;padding:24px 20px}}`

/** The content of a page, as plain text. */
export interface Page {
  readonly title: string
  readonly text: string
  /** The label of a button that sends a POST request to the address of the page. */
  readonly button?: string
  readonly link?: { readonly href: string; readonly text: string }
}

/** A small HTML page. Browsers may apply only its own style and run no script on it. */
export function renderPage({ title, text, button, link }: Page) {
  const form =
    button === undefined ? '' : `<form method="post"><button type="submit">${escapeHtml(button)}</button></form>`
  const anchor = link === undefined ? '' : `<a href="${escapeHtml(link.href)}">${escapeHtml(link.text)}</a>`
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex"><title>${escapeHtml(title)}</title><style>${STYLE}</style></head>
<body><main><h1>${escapeHtml(title)}</h1><p>${escapeHtml(text)}</p>${form}${anchor}</main></body></html>
`
  return { html, headers: { 'content-security-policy': PAGE_POLICY } }
}

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')
const PAGE_POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`

/**
 * Content-Security-Policy for a message preview: its inline styles apply and its logo loads, but scripts do not run, and it has no
 * origin, so it cannot access the API. Only the console may frame it.
 */
export const MESSAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src https:; sandbox; frame-ancestors 'self'; base-uri 'none'; form-action 'none'"
