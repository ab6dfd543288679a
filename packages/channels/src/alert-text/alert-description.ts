/** An alert in words, from which Slack messages and mails are built. */
export interface AlertDescription extends AlertTexts {
  /** The path of the alert's page in the console; null if the alert has no page. */
  readonly path: string | null
  /** What a person can decide about it now, on its page. */
  readonly acts: readonly MessageAct[]
}

/** The texts of an alert. */
export interface AlertTexts {
  /** The headline of a message or the subject of a mail, with amount, customer and account: plain text without line breaks. */
  readonly title: string
  /** One or two sentences that end with a full stop. The most alarming fact is first. */
  readonly summary: string
  readonly facts: readonly { readonly label: string; readonly value: string }[]
  readonly next: NextStep
  /** The colour scheme of a mail. */
  readonly tone: 'alarm' | 'relief' | 'neutral'
  /** The https URL of a page in the provider's own dashboard; null if the provider has none. */
  readonly providerUrl: string | null
  /**
   * The id of the incident, operation, budget or run that the alert reports. Messages with the same reference belong
   * together.
   */
  readonly reference: string
}

/** What a person should do about an alert. */
export interface NextStep {
  /** One sentence. */
  readonly sentence: string
  /** In the order in which a person should do them; each is one or two sentences. A mail has the first two, the console all. */
  readonly steps: readonly string[]
}

/** A decision that a person can begin from a message. */
export type MessageAct = 'acknowledge' | 'ours' | 'silence'
