import type { ProviderKind } from '../providers.ts'

/**
 * A reference names one object of a provider within one project, e.g. `prj_…/processor/ch_3P`. Two records that share a reference are
 * about the same payment or subscription. The project is the first part, so events of one project never affect another project. `/` and
 * `%` inside a part are percent-encoded, so two different objects never share a reference.
 * @param site the provider's site if ids are unique only within a site (subscription), or undefined
 */
export function objectReference(
  projectId: string,
  provider: ProviderKind,
  site: string | undefined,
  id: string,
): string {
  return `${referencePrefix(projectId, provider, site)}/${encodePart(id)}`
}

/** Identifies one object among all objects of its project: like its reference, with the object type before the id. */
export function objectIdentity(
  projectId: string,
  provider: ProviderKind,
  site: string | undefined,
  type: string,
  id: string,
): string {
  return `${referencePrefix(projectId, provider, site)}/${type}/${encodePart(id)}`
}

/**
 * The reference of an idempotency key that an operation sent and that the processor repeats in its event. It cannot equal an object of a
 * site, because site names contain no underscore.
 */
export function idempotencyReference(projectId: string, provider: ProviderKind, key: string): string {
  return `${projectId}/${provider}/idempotency_key/${encodePart(key)}`
}

/** The reference of another object of the same project, provider and site. */
export function siblingReference(reference: string, id: string): string {
  return `${reference.slice(0, reference.lastIndexOf('/'))}/${encodePart(id)}`
}

/** Returns the id or idempotency key in a reference. */
export function idInReference(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1).replace(/%(?:25|2F)/g, decodeURIComponent)
}

/**
 * The Kafka key of messages about one payment or subscription. It brings most of them to one consumer, which is faster. Correctness must
 * not depend on it, because two consumers may still get messages of one case.
 */
export function partitionKey(projectId: string, subject: string): string {
  return `${projectId}/${subject}`
}

function referencePrefix(projectId: string, provider: ProviderKind, site: string | undefined): string {
  return site === undefined ? `${projectId}/${provider}` : `${projectId}/${provider}/${site}`
}

/**
 * Encodes a part of a reference. A lone surrogate becomes U+FFFD, as in a database of UTF-8. With the original character, a stored
 * reference could not be found again.
 */
function encodePart(part: string): string {
  return part.toWellFormed().replace(/[%/]/g, encodeURIComponent)
}
