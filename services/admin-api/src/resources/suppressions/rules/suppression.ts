import type { Suppression, SuppressionDocument } from '@backstop/contracts'

/** A suppressed address as it is shown. One whose bounces are only counted has no reason and is not to be shown. */
export function showSuppression(document: SuppressionDocument): Suppression {
  return {
    project_id: document.project_id,
    address: document.address,
    reason: document.reason ?? 'manual',
    detail: document.detail,
    suppressed_at: (document.suppressed_at ?? document.updated_at).toISOString(),
  }
}
