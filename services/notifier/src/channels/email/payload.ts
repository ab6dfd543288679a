import type { Alert } from '@backstop/contracts'
import { type AlertDescription, describeAlert } from '../../domain/describe-alert.ts'

export interface MailContent {
  readonly subject: string
  readonly text: string
  readonly html: string
  /** Mails about the same incident share it. */
  readonly threadId: string
}

/** @param publicUrl base of the console's links; no link without it */
export function mailContent(alert: Alert, publicUrl: string | null, brandName: string): MailContent {
  const description = describeAlert(alert)
  const link = publicUrl === null || description.path === null ? null : publicUrl + description.path
  return {
    subject: oneLine(`[${brandName}] ${description.title}`),
    text: plainText(description, link, brandName),
    html: htmlDocument(description, link, brandName),
    threadId: description.reference,
  }
}

/** No control character ends a header early; nobody reads a subject of more than 200. */
function oneLine(text: string): string {
  return Array.from(text.replace(/\p{Cc}+/gu, ' ').trim())
    .slice(0, 200)
    .join('')
}

function plainText({ title, summary, facts }: AlertDescription, link: string | null, brandName: string): string {
  const width = Math.max(0, ...facts.map(fact => fact.label.length))
  return [
    title,
    '',
    summary,
    ...(facts.length > 0 ? ['', ...facts.map(({ label, value }) => `${`${label}:`.padEnd(width + 2)}${value}`)] : []),
    ...(link === null ? [] : ['', `Look at it: ${link}`]),
    '',
    '-- ',
    footer(brandName),
    '',
  ].join('\n')
}

const footer = (brandName: string) =>
  `Sent by ${brandName}, because this address belongs to one of your project's alert channels.`

const ACCENTS = { alarm: '#b42318', relief: '#067647', neutral: '#344054' } as const
const FONT = "font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"

/** Tables and inline styles: what mail programs agree on. Nothing is fetched, so nothing is blocked or tracks. */
function htmlDocument(description: AlertDescription, link: string | null, brandName: string): string {
  const { title, summary, facts, tone } = description
  const accent = ACCENTS[tone]
  const rows = facts
    .map(
      ({ label, value }) =>
        `<tr><th scope="row" align="left" style="padding:6px 16px 6px 0;color:#667085;font-weight:400;white-space:nowrap;vertical-align:top">${escapeHtml(label)}</th>` +
        `<td style="padding:6px 0;color:#101828;word-break:break-word">${escapeHtml(value)}</td></tr>`,
    )
    .join('')
  const table =
    rows === ''
      ? ''
      : `<table role="presentation" cellpadding="0" cellspacing="0" style="margin:0 0 24px;font-size:14px;line-height:20px;border-collapse:collapse">${rows}</table>`
  const button =
    link === null
      ? ''
      : `<p style="margin:0 0 24px"><a href="${escapeHtml(link)}" style="display:inline-block;background:${accent};color:#ffffff;text-decoration:none;padding:10px 18px;border-radius:6px;font-size:14px;font-weight:600">Look at it</a></p>`
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>${escapeHtml(title)}</title></head>
<body style="margin:0;padding:0;background:#f2f4f7;${FONT}">
<div style="display:none;max-height:0;overflow:hidden">${escapeHtml(summary)}</div>
<table role="presentation" width="100%" cellpadding="0" cellspacing="0"><tr><td align="center" style="padding:24px 12px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="max-width:560px;background:#ffffff;border-radius:8px;border-top:4px solid ${accent}"><tr><td style="padding:24px">
<p style="margin:0 0 16px;font-size:13px;font-weight:600;letter-spacing:.02em;color:#667085">${escapeHtml(brandName)}</p>
<h1 style="margin:0 0 12px;font-size:20px;line-height:28px;color:#101828">${escapeHtml(title)}</h1>
<p style="margin:0 0 24px;font-size:15px;line-height:22px;color:#344054">${escapeHtml(summary)}</p>
${table}${button}
</td></tr></table>
<p style="margin:16px 0 0;font-size:12px;line-height:18px;color:#667085">${escapeHtml(footer(brandName))}</p>
</td></tr></table>
</body></html>
`
}

function escapeHtml(text: string): string {
  return text
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/"/g, '&quot;')
    .replace(/'/g, '&#39;')
}
