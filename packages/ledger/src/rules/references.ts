import {
  idempotencyReference,
  type Operation,
  objectReference,
  type ProviderKind,
  siblingReference,
} from '@backstop/contracts'

/** The objects that an operation names. */
export interface NamedObjects {
  readonly projectId: string
  readonly provider: ProviderKind
  /** Null if the provider's ids are unique without a site. */
  readonly site: string | null
  readonly subject: string
  readonly providerRef: string | null
  readonly idempotencyKey: string | null
}

/**
 * Every reference that an action may have in common with the operation: its payment or subscription first, then the
 * refund or cancellation if known, and the idempotency key if the provider's events contain it (the processor's do).
 */
export function referencesOf(named: NamedObjects): string[] {
  const site = named.site ?? undefined
  const references = [objectReference(named.projectId, named.provider, site, named.subject)]
  if (named.providerRef !== null) {
    references.push(objectReference(named.projectId, named.provider, site, named.providerRef))
  }
  if (named.idempotencyKey !== null && named.provider === 'processor') {
    references.push(idempotencyReference(named.projectId, named.provider, named.idempotencyKey))
  }
  return [...new Set(references)]
}

/**
 * Adds the reference of a provider_ref that becomes known. The site is that of the subject's reference, because an operation
 * does not store it.
 */
export function withProviderRef(operation: Operation, providerRef: string): string[] {
  const [subject] = operation.refs
  if (subject === undefined) return operation.refs
  return [...new Set([...operation.refs, siblingReference(subject, providerRef)])]
}
