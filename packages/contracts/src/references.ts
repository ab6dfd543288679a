import type { ProviderKind } from './providers.ts'

/**
 * A reference names one object of a provider within one project, e.g. `prj_…/processor/ch_3P`. Two records that share a
 * reference are about the same payment or subscription. The project comes first, so that what one project signs can
 * never touch another's.
 * @param site the provider's site where its ids are only unique within one (subscription), or undefined
 */
export function objectReference(
  projectId: string,
  provider: ProviderKind,
  site: string | undefined,
  id: string,
): string {
  return storable(site === undefined ? `${projectId}/${provider}/${id}` : `${projectId}/${provider}/${site}/${id}`)
}

/**
 * JSON lets half of a character through, a database of UTF-8 keeps U+FFFD for it: what was stored would not be found under
 * the name that it has here, nor could it be stored anew beside it.
 */
function storable(reference: string): string {
  return reference.toWellFormed()
}

/**
 * The ids that an object's reference may stand for: what comes before a slash may be a site, or a part of the id, and the
 * reference does not say which.
 */
export function idsIn(reference: string): string[] {
  const [, , ...rest] = reference.split('/')
  return rest.length > 1 ? [rest.join('/'), rest.slice(1).join('/')] : rest
}

/** The reference of an idempotency key that an operation sent and the processor's event repeats. */
export function idempotencyReference(projectId: string, provider: ProviderKind, key: string): string {
  return storable(`${projectId}/${provider}/idempotency-key/${key}`)
}

/** The key of messages about one payment or subscription: locality only, never exclusion (DESIGN, "Topics"). */
export function partitionKey(projectId: string, subject: string): string {
  return `${projectId}/${subject}`
}
