import type { Alert } from '@backstop/contracts'
import type { AlertDescription } from '../alert-text/alert-description.ts'
import { describeAlert } from '../alert-text/describe-alert.ts'
import { linksOf } from '../alert-text/links.ts'
import { footerOf } from '../alert-text/wording.ts'
import type { MessageSetting } from '../channel.ts'
import { cutText } from '../cut-text.ts'

/** The body of a request to a workflow that posts the Adaptive Cards of the request. */
export interface TeamsMessage {
  readonly type: 'message'
  readonly attachments: readonly [
    { readonly contentType: 'application/vnd.microsoft.card.adaptive'; readonly content: AdaptiveCard },
  ]
}

interface AdaptiveCard {
  readonly $schema: 'http://adaptivecards.io/schemas/adaptive-card.json'
  readonly type: 'AdaptiveCard'
  readonly version: '1.4'
  readonly msteams: { readonly width: 'Full' }
  readonly body: readonly RichTextBlock[]
  readonly actions: readonly OpenUrlAction[]
}

/**
 * A paragraph of plain text. All texts are in such blocks, because Teams interprets the Markdown of a TextBlock and of a
 * FactSet, so that a text of a provider could contain a link there.
 */
export interface RichTextBlock {
  readonly type: 'RichTextBlock'
  readonly spacing?: 'Small' | 'Medium'
  readonly inlines: readonly TextRun[]
}

interface TextRun {
  readonly type: 'TextRun'
  readonly text: string
  readonly weight?: 'Bolder'
  readonly size?: 'Large' | 'Small'
  readonly color?: TextColor
  readonly isSubtle?: true
}

export type TextColor = 'Default' | 'Attention' | 'Good'

interface OpenUrlAction {
  readonly type: 'Action.OpenUrl'
  readonly title: string
  readonly url: string
}

/**
 * Limits in UTF-16 units, each of which has at most three bytes, so that a message stays below the 28 KB of Teams
 * (https://learn.microsoft.com/en-us/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using).
 */
const LIMITS = {
  title: 200,
  summary: 1_500,
  facts: 20,
  label: 60,
  value: 300,
  allFacts: 3_000,
  sentence: 350,
  footer: 400,
} as const

const COLORS: Readonly<Record<AlertDescription['tone'], TextColor>> = {
  alarm: 'Attention',
  relief: 'Good',
  neutral: 'Default',
}

/** Creates the message for one alert. */
export function teamsMessage(alert: Alert, { publicUrl, brandName, reader, alsoSentTo }: MessageSetting): TeamsMessage {
  const description = describeAlert(alert, reader)
  const { title, summary, facts, next, tone, reference } = description
  const content: AdaptiveCard = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    msteams: { width: 'Full' },
    body: [
      paragraph([{ text: cutText(title, LIMITS.title), weight: 'Bolder', size: 'Large', color: COLORS[tone] }]),
      paragraph([{ text: cutText(summary, LIMITS.summary) }], 'Medium'),
      ...factBlocks(facts),
      paragraph([{ text: cutText(next.sentence, LIMITS.sentence) }], 'Medium'),
      paragraph(
        [{ text: cutText(footerOf(brandName, reference, alsoSentTo), LIMITS.footer), size: 'Small', isSubtle: true }],
        'Medium',
      ),
    ],
    actions: linksOf(description, publicUrl).map(({ text, url }) => ({
      type: 'Action.OpenUrl',
      title: text,
      url,
    })),
  }
  return { type: 'message', attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', content }] }
}

function paragraph(runs: readonly Omit<TextRun, 'type'>[], spacing?: 'Small' | 'Medium'): RichTextBlock {
  const inlines = runs.filter(({ text }) => text !== '').map(run => ({ type: 'TextRun' as const, ...run }))
  return { type: 'RichTextBlock', ...(spacing === undefined ? {} : { spacing }), inlines }
}

/** One paragraph for each fact, up to the limit of all facts. */
function factBlocks(facts: AlertDescription['facts']): RichTextBlock[] {
  let length = 0
  const blocks: RichTextBlock[] = []
  for (const fact of facts.slice(0, LIMITS.facts)) {
    const label = cutText(fact.label, LIMITS.label)
    const value = cutText(fact.value, LIMITS.value)
    length += label.length + value.length
    if (length > LIMITS.allFacts) break
    blocks.push(paragraph([{ text: `${label}: `, weight: 'Bolder' }, { text: value }], 'Small'))
  }
  return blocks
}
