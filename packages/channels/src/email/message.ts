import type { Alert, Branding } from '@backstop/contracts'
import type { AlertDescription } from '../alert-text/alert-description.ts'
import { describeAlert } from '../alert-text/describe-alert.ts'
import { COMPILED_TEMPLATE } from './compiled-template.ts'
import { fillTemplate } from './fill-template.ts'
import { lookOf, type MailLook, oneLine } from './look.ts'

export interface MailView {
  readonly alert: Alert
  /** Of the alert's project; empty for Backstop's own look. */
  readonly branding: Branding
  /** The name of this installation, where the branding has none. */
  readonly brandName: string
  /** Base of the console's links, without a slash at its end; no link without it. */
  readonly publicUrl: string | null
  /** The page on which this one recipient leaves; null where there is none. */
  readonly unsubscribeUrl: string | null
}

export interface MailContent {
  readonly subject: string
  readonly text: string
  readonly html: string
  /** Mails about the same incident share it. */
  readonly threadId: string
}

/** Nobody reads a longer subject. In code points. */
const SUBJECT_LIMIT = 200

/** An alert as a mail: the one way from either to the other, for what is sent and for what is previewed. */
export function renderMail(view: MailView): MailContent {
  const description = describeAlert(view.alert)
  const look = lookOf(view.branding, view.brandName, description.tone)
  const link = view.publicUrl === null || description.path === null ? null : view.publicUrl + description.path
  const parts = { description, look, link, why: whySent(look.name), unsubscribeUrl: view.unsubscribeUrl }
  return {
    subject: oneLine(`[${look.name}] ${description.title}`, SUBJECT_LIMIT),
    text: plainText(parts),
    html: htmlDocument(parts),
    threadId: description.reference,
  }
}

interface MailParts {
  readonly description: AlertDescription
  readonly look: MailLook
  readonly link: string | null
  readonly why: string
  readonly unsubscribeUrl: string | null
}

const whySent = (name: string) =>
  `Sent by ${name}, because this address belongs to one of your project's alert channels.`

function plainText({ description, look, link, why, unsubscribeUrl }: MailParts): string {
  const { title, summary, facts } = description
  const width = Math.max(0, ...facts.map(fact => fact.label.length))
  return [
    title,
    '',
    summary,
    ...(facts.length > 0 ? ['', ...facts.map(({ label, value }) => `${`${label}:`.padEnd(width + 2)}${value}`)] : []),
    ...(link === null ? [] : ['', `Look at it: ${link}`]),
    '',
    // Mail programs take what follows for a signature (RFC 3676, 4.3).
    '-- ',
    ...look.footer,
    why,
    ...(unsubscribeUrl === null ? [] : [`Unsubscribe: ${unsubscribeUrl}`]),
    '',
  ].join('\n')
}

function htmlDocument({ description, look, link, why, unsubscribeUrl }: MailParts): string {
  const { title, summary, facts } = description
  return fillTemplate(COMPILED_TEMPLATE, {
    title,
    summary,
    name: look.name,
    logo: look.logoUrl,
    accent: look.accent,
    onAccent: look.onAccent,
    hasFacts: facts.length > 0 ? 'yes' : null,
    facts,
    link,
    footer: look.footer.map(line => ({ line })),
    why,
    unsubscribe: unsubscribeUrl,
  })
}
