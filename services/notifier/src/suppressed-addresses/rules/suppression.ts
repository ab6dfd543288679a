import type { SuppressionDocument, SuppressionReason } from '@backstop/contracts'

/** A report about an address. */
export type AddressReport =
  | { readonly kind: 'suppress'; readonly reason: SuppressionReason; readonly detail: string | null }
  | { readonly kind: 'unsuppress' }
  | { readonly kind: 'soft_bounce'; readonly detail: string | null }

export interface AddressOfProject {
  readonly projectId: string
  readonly address: string
}

/** The new document of the address; null deletes it. */
export interface SuppressionChange {
  readonly next: SuppressionDocument | null
  readonly reason:
    | 'suppressed'
    | 'suppressed_before'
    | 'allowed_again'
    | 'bounce_counted'
    | 'bounce_known'
    | 'too_many_bounces'
}

/** Number of soft bounces within the window that suppress an address. */
export const SOFT_BOUNCE_LIMIT = 5
export const SOFT_BOUNCE_WINDOW_MS = 7 * 86_400_000

/**
 * One id for all spellings of an address: mail servers may distinguish upper and lower case, but none in common use
 * does.
 */
export function suppressionId({ projectId, address }: AddressOfProject): string {
  return `${projectId}/${normaliseAddress(address)}`
}

export function normaliseAddress(address: string): string {
  return address.trim().toLowerCase()
}

/**
 * Applies a report to the stored suppression. The first reason is kept, because it is the reason that a person has to
 * lift. Only a person can lift a suppression.
 */
export function decideSuppression(
  of: AddressOfProject,
  known: SuppressionDocument | null,
  report: AddressReport,
  atMs: number,
): SuppressionChange {
  switch (report.kind) {
    case 'unsuppress':
      // The bounces are deleted, too: otherwise the next bounce would suppress the address again.
      return { next: null, reason: 'allowed_again' }
    case 'suppress':
      if (known?.reason != null) return { next: known, reason: 'suppressed_before' }
      return {
        next: { ...suppressionDocument(of, known, atMs), ...suppressionFields(report.reason, report.detail, atMs) },
        reason: 'suppressed',
      }
    case 'soft_bounce':
      return countBounce(of, known, report.detail, atMs)
    default:
      return report satisfies never
  }
}

function countBounce(
  of: AddressOfProject,
  known: SuppressionDocument | null,
  detail: string | null,
  atMs: number,
): SuppressionChange {
  if (known?.reason != null) return { next: known, reason: 'suppressed_before' }
  // A duplicate of a report has the same time.
  if (known?.soft_bounces.some(at => at.getTime() === atMs)) return { next: known, reason: 'bounce_known' }
  const times = [...(known?.soft_bounces ?? []).map(at => at.getTime()), atMs].sort((a, b) => a - b)
  const latest = times.at(-1) ?? atMs
  const recent = times.filter(at => at > latest - SOFT_BOUNCE_WINDOW_MS)
  const counted = { ...suppressionDocument(of, known, atMs), detail, soft_bounces: recent.map(at => new Date(at)) }
  if (recent.length < SOFT_BOUNCE_LIMIT) return { next: counted, reason: 'bounce_counted' }
  return { next: { ...counted, ...suppressionFields('soft_bounces', detail, atMs) }, reason: 'too_many_bounces' }
}

function suppressionDocument(
  of: AddressOfProject,
  known: SuppressionDocument | null,
  atMs: number,
): SuppressionDocument {
  return {
    _id: suppressionId(of),
    project_id: of.projectId,
    address: normaliseAddress(of.address),
    reason: null,
    detail: null,
    soft_bounces: known?.soft_bounces ?? [],
    suppressed_at: null,
    updated_at: new Date(atMs),
  }
}

function suppressionFields(reason: SuppressionReason, detail: string | null, atMs: number) {
  return { reason, detail, suppressed_at: new Date(atMs) }
}
