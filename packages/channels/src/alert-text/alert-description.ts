/** The texts of an alert, from which Slack messages and mails are built. */
export interface AlertDescription {
  /** The headline of a message or the subject of a mail: plain text without line breaks. */
  readonly title: string
  /** One or two sentences. */
  readonly summary: string
  readonly facts: readonly { readonly label: string; readonly value: string }[]
  /** The colour scheme of a mail. */
  readonly tone: 'alarm' | 'relief' | 'neutral'
  /** The path of the alert's page in the console; null if the alert has no page. */
  readonly path: string | null
  /**
   * The id of the incident, operation, budget or run that the alert reports. Messages with the same reference belong
   * together.
   */
  readonly reference: string
}
