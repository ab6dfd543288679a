/** An alert in words, without the form of any channel: what Slack messages and mails are made from. */
export interface AlertDescription {
  /** Plain text without line breaks: a headline or a subject. */
  readonly title: string
  /** One or two sentences. */
  readonly summary: string
  readonly facts: readonly { readonly label: string; readonly value: string }[]
  /** Whether it is bad news: decides the colour. */
  readonly tone: 'alarm' | 'relief' | 'neutral'
  /** Path in the console that shows more; null when there is nothing more to see. */
  readonly path: string | null
  /** Names what the alert is about, to recognise messages that belong together. */
  readonly reference: string
}
