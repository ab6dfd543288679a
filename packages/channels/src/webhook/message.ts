import type { Alert } from '@backstop/contracts'

/** The JSON document that a webhook receives. */
export interface WebhookDocument {
  readonly id: string
  readonly event: Alert['event']
  /** ISO 8601 in UTC. */
  readonly created_at: string
  readonly project_id: string
  readonly data: Alert['data']
}

/**
 * Creates the document. The fields are listed one by one, because the signature covers their order, which must not
 * depend on the code that raised the alert.
 */
export function webhookDocument({ alert_id, event, created_at, project_id, data }: Alert): WebhookDocument {
  return { id: alert_id, event, created_at, project_id, data }
}

/** The body of the request. It has the same bytes at every attempt, because the signature covers them. */
export function webhookBody(alert: Alert): string {
  return JSON.stringify(webhookDocument(alert))
}
