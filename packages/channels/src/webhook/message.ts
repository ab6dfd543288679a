import type { Alert } from '@backstop/contracts'

/** What a webhook receives, as JSON. */
export interface WebhookDocument {
  readonly id: string
  readonly event: Alert['event']
  /** ISO 8601 in UTC. */
  readonly created_at: string
  readonly project_id: string
  readonly data: Alert['data']
}

/**
 * An alert as a webhook receives it. Written field by field: a signature covers the bytes, so the order of the fields must
 * not depend on who made the alert.
 */
export function webhookDocument({ alert_id, event, created_at, project_id, data }: Alert): WebhookDocument {
  return { id: alert_id, event, created_at, project_id, data }
}

/** The body that a webhook receives: the same bytes at every attempt, because its signature covers them. */
export function webhookBody(alert: Alert): string {
  return JSON.stringify(webhookDocument(alert))
}
