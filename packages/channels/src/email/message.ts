import type { Alert, Branding } from '@backstop/contracts'
import type { AlertDescription } from '../alert-text/alert-description.ts'
import { describeAlert } from '../alert-text/describe-alert.ts'
import { type AlertLink, linksOf } from '../alert-text/links.ts'
import { alsoSentText } from '../alert-text/wording.ts'
import type { MessageSetting } from '../channel.ts'
import { fillTemplate } from './fill-template.ts'
import { COMPILED_TEMPLATE } from './generated/mail-template.ts'
import { appearanceOf, type MailAppearance, toOneLine } from './look.ts'

export interface MailView extends MessageSetting {
  readonly alert: Alert
  /** The branding of the alert's project; an empty object selects Backstop's own branding. */
  readonly branding: Branding
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

/** Further steps are in the console. */
const MOST_STEPS = 2

/** Renders the mail for an alert, for deliveries and previews. */
export function renderMail(view: MailView): MailContent {
  const description = describeAlert(view.alert, view.reader)
  const subject = description.title
  const links = linksOf(description, view.publicUrl)
  const alsoSent = alsoSentText(view.alsoSentTo)
  return fillMail({ ...description, subject, links, entries: [], threadId: description.reference, alsoSent }, view)
}

/** The texts of a mail about one alert or several. */
export interface MailTexts extends Pick<AlertDescription, 'title' | 'summary' | 'facts' | 'next' | 'tone'> {
  readonly subject: string
  readonly links: readonly AlertLink[]
  /** The alerts of a digest, one line each. */
  readonly entries: readonly MailEntry[]
  readonly threadId: string
  /** Who else gets it; null if nobody does. */
  readonly alsoSent?: string | null
}

interface MailEntry {
  readonly text: string
  readonly reference: string
  /** Null for an entry without a page. */
  readonly url: string | null
}

/** Renders texts with the look of the project, as text and as HTML. */
export function fillMail(
  texts: MailTexts,
  { branding, brandName, unsubscribeUrl }: Pick<MailView, 'branding' | 'brandName' | 'unsubscribeUrl'>,
): MailContent {
  const look = appearanceOf(branding, brandName, texts.tone)
  const steps = texts.next.steps.slice(0, MOST_STEPS).map((step, index) => ({ number: `${index + 1}.`, step }))
  const parts = { ...texts, steps, look, reasonSent: reasonSent(look.name), unsubscribeUrl }
  return {
    subject: toOneLine(`[${look.name}] ${texts.subject}`, SUBJECT_LIMIT),
    text: plainText(parts),
    html: htmlDocument(parts),
    threadId: texts.threadId,
  }
}

interface MailParts extends MailTexts {
  /** The first steps of what to do. */
  readonly steps: readonly { readonly number: string; readonly step: string }[]
  readonly look: MailAppearance
  /** The sentence that explains why the recipient gets the mail. */
  readonly reasonSent: string
  readonly unsubscribeUrl: string | null
}

const reasonSent = (name: string) => `Sent by ${name} to an address of your project's alert channels.`

function plainText({ look, steps, links, entries, reasonSent, unsubscribeUrl, ...texts }: MailParts): string {
  const { title, summary, facts, next, threadId, alsoSent = null } = texts
  const width = Math.max(0, ...facts.map(fact => fact.label.length))
  return [
    title,
    '',
    summary,
    ...(facts.length > 0 ? ['', ...facts.map(({ label, value }) => `${`${label}:`.padEnd(width + 2)}${value}`)] : []),
    '',
    next.sentence,
    ...steps.map(({ number, step }) => `${number} ${step}`),
    ...(links.length === 0 ? [] : ['']),
    ...links.map(({ text, url }) => `${text}: ${url}`),
    ...(entries.length === 0 ? [] : ['']),
    ...entries.flatMap(({ text, reference, url }) => [
      `- ${text} · ${reference}`,
      ...(url === null ? [] : [`  ${url}`]),
    ]),
    '',
    `Reference: ${threadId}`,
    ...(alsoSent === null ? [] : [alsoSent]),
    '',
    // Mail programs show the lines after this separator as a signature (RFC 3676 §4.3).
    '-- ',
    ...look.footer,
    reasonSent,
    ...(unsubscribeUrl === null ? [] : [`Unsubscribe: ${unsubscribeUrl}`]),
    '',
  ].join('\n')
}

function htmlDocument({ look, steps, links, entries, reasonSent, unsubscribeUrl, ...texts }: MailParts): string {
  const { title, summary, facts, next, threadId, alsoSent = null } = texts
  const [first, ...others] = links
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
    hasSteps: steps.length > 0 ? 'yes' : null,
    steps,
    hasLinks: links.length > 0 ? 'yes' : null,
    mainLink: first === undefined ? [] : [{ text: first.text, url: first.url }],
    links: others.map(({ text, url }) => ({ text, url })),
    hasEntries: entries.length > 0 ? 'yes' : null,
    entries: entries.map(({ text, reference, url }) => ({ text, reference, url: url ?? '' })),
    reference: threadId,
    alsoSent,
    footer: look.footer.map(line => ({ line })),
    why: reasonSent,
    unsubscribe: unsubscribeUrl,
  })
}
