import type { Alert, Branding } from '@backstop/contracts'
import type { AlertDescription } from '../alert-text/alert-description.ts'
import { describeAlert } from '../alert-text/describe-alert.ts'
import { type AlertLink, linksOf } from '../alert-text/links.ts'
import { linesOf } from '../alert-text/next-steps.ts'
import { COMPILED_TEMPLATE } from './compiled-template.ts'
import { fillTemplate } from './fill-template.ts'
import { appearanceOf, type MailAppearance, toOneLine } from './look.ts'

export interface MailView {
  readonly alert: Alert
  /** The branding of the alert's project; an empty object selects Backstop's own branding. */
  readonly branding: Branding
  /** The name of this installation, used if the branding contains no name. */
  readonly brandName: string
  /** Base URL of links to the console, without a trailing slash; null for a mail without such a link. */
  readonly publicUrl: string | null
  /** The unsubscribe page of this recipient; null for a mail without such a link. */
  readonly unsubscribeUrl: string | null
}

export interface MailContent {
  readonly subject: string
  readonly text: string
  readonly html: string
  /** The thread id, equal in all mails of one incident. */
  readonly threadId: string
}

/** Maximum length of the subject, in code points. */
const SUBJECT_LIMIT = 200

/** Renders the mail for an alert, for deliveries and previews. */
export function renderMail(view: MailView): MailContent {
  const description = describeAlert(view.alert)
  const look = appearanceOf(view.branding, view.brandName, description.tone)
  const links = linksOf(description, view.publicUrl)
  const parts = { description, look, links, reasonSent: reasonSent(look.name), unsubscribeUrl: view.unsubscribeUrl }
  return {
    subject: toOneLine(`[${look.name}] ${description.title}`, SUBJECT_LIMIT),
    text: plainText(parts),
    html: htmlDocument(parts),
    threadId: description.reference,
  }
}

interface MailParts {
  readonly description: AlertDescription
  readonly look: MailAppearance
  readonly links: readonly AlertLink[]
  /** The sentence that explains why the recipient gets the mail. */
  readonly reasonSent: string
  readonly unsubscribeUrl: string | null
}

const reasonSent = (name: string) =>
  `Sent by ${name}, because this address belongs to one of your project's alert channels.`

function plainText({ description, look, links, reasonSent, unsubscribeUrl }: MailParts): string {
  const { title, summary, facts, next, ids } = description
  const width = Math.max(0, ...facts.map(fact => fact.label.length))
  return [
    title,
    '',
    summary,
    ...(facts.length > 0 ? ['', ...facts.map(({ label, value }) => `${`${label}:`.padEnd(width + 2)}${value}`)] : []),
    '',
    'What to do',
    ...linesOf(next),
    ...(links.length === 0 ? [] : ['']),
    ...links.map(({ text, url }) => `${text}: ${url}`),
    '',
    `Reference: ${ids}`,
    '',
    // Mail programs show the lines after this separator as a signature (RFC 3676 §4.3).
    '-- ',
    ...look.footer,
    reasonSent,
    ...(unsubscribeUrl === null ? [] : [`Unsubscribe: ${unsubscribeUrl}`]),
    '',
  ].join('\n')
}

function htmlDocument({ description, look, links, reasonSent, unsubscribeUrl }: MailParts): string {
  const { title, summary, facts, next, ids } = description
  return fillTemplate(COMPILED_TEMPLATE, {
    title,
    summary,
    name: look.name,
    logo: look.logoUrl,
    accent: look.accent,
    onAccent: look.onAccent,
    hasFacts: facts.length > 0 ? 'yes' : null,
    facts,
    next: next.sentence,
    hasSteps: next.steps.length > 0 ? 'yes' : null,
    steps: next.steps.map((step, index) => ({ number: `${index + 1}.`, step })),
    hasLinks: links.length > 0 ? 'yes' : null,
    links: links.map(({ text, url }) => ({ text, url })),
    ids,
    footer: look.footer.map(line => ({ line })),
    why: reasonSent,
    unsubscribe: unsubscribeUrl,
  })
}
