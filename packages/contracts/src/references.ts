import type { ProviderKind } from './providers.ts'

/**
 * A reference names one object of a provider within one project, e.g. `prj_…/processor/ch_3P`. Two records that share a
 * reference are about the same payment or subscription. The project comes first, so that events of one project never
 * affect another. `/` and `%` inside a part are percent-encoded, so two different objects never share a reference.
 * @param site the provider's site where its ids are only unique within one (subscription), or undefined
 */
export function objectReference(
  projectId: string,
  provider: ProviderKind,
  site: string | undefined,
  id: string,
): string {
  return `${placeOf(projectId, provider, site)}/${encodePart(id)}`
}

/** The identity of one object among all of its project: as its reference, with its type before the id. */
export function objectIdentity(
  projectId: string,
  provider: ProviderKind,
  site: string | undefined,
  type: string,
  id: string,
): string {
  return `${placeOf(projectId, provider, site)}/${type}/${encodePart(id)}`
}

/**
 * The reference of an idempotency key that an operation sent and the processor's event repeats. No site is called
 * `idempotency_key`: a site's name holds no underscore.
 */
export function idempotencyReference(projectId: string, provider: ProviderKind, key: string): string {
  return `${projectId}/${provider}/idempotency_key/${encodePart(key)}`
}

/** The reference of another object at the same place as the referenced one. */
export function siblingReference(reference: string, id: string): string {
  return `${reference.slice(0, reference.lastIndexOf('/'))}/${encodePart(id)}`
}

/** The id, or the idempotency key, that a reference names. */
export function idInReference(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1).replace(/%(?:25|2F)/g, decodeURIComponent)
}

/**
 * The key of messages about one payment or subscription. It brings most of them to one consumer, which is faster; two
 * consumers may still hold messages of one case, so nothing may rely on it.
 */
export function partitionKey(projectId: string, subject: string): string {
  return `${projectId}/${subject}`
}

function placeOf(projectId: string, provider: ProviderKind, site: string | undefined): string {
  return site === undefined ? `${projectId}/${provider}` : `${projectId}/${provider}/${site}`
}

/**
 * JSON lets half of a surrogate pair through, and a database of UTF-8 stores U+FFFD for it: such a part could not be found
 * again under the name that it has here.
 */
function encodePart(part: string): string {
  return part.toWellFormed().replace(/[%/]/g, encodeURIComponent)
}
