import type { Suppression, SuppressionDocument } from '@backstop/contracts'

/**
 * A suppressed address as the API shows it. Call it only for documents with a reason: an address whose bounces are only counted is not
 * suppressed.
 */
export function showSuppression(document: SuppressionDocument): Suppression {
  return {
    project_id: document.project_id,
    address: document.address,
    reason: document.reason ?? 'manual',
    detail: document.detail,
    suppressed_at: (document.suppressed_at ?? document.updated_at).toISOString(),
  }
}
