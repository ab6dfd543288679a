/** The texts of an alert. Slack messages and mails are built from it. */
export interface AlertDescription {
  /** The headline of a message or the subject of a mail: plain text without line breaks. */
  readonly title: string
  /** One or two sentences. */
  readonly summary: string
  readonly facts: readonly { readonly label: string; readonly value: string }[]
  /** Decides the colour of a mail. */
  readonly tone: 'alarm' | 'relief' | 'neutral'
  /** The path of its page in the console; null if it has none. */
  readonly path: string | null
  /** The id of the incident, operation, budget or run that it is about. Messages with the same reference belong together. */
  readonly reference: string
}
