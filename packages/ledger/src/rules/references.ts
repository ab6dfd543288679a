import {
  idempotencyReference,
  type Operation,
  objectReference,
  type ProviderKind,
  siblingReference,
} from '@backstop/contracts'

/** What an operation names, and where. */
export interface NamedObjects {
  readonly projectId: string
  readonly provider: ProviderKind
  /** Null where the provider's ids are unique without one. */
  readonly site: string | null
  readonly subject: string
  readonly providerRef: string | null
  readonly idempotencyKey: string | null
}

/**
 * Every reference by which an action may find the operation: its payment or subscription first, the refund or cancellation
 * when it is known, and the idempotency key where the provider's events repeat it (the processor's do).
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
 * The references of an operation that learns its provider_ref: it stands where the subject stands, on the same site, which
 * the operation itself does not carry.
 */
export function withProviderRef(operation: Operation, providerRef: string): string[] {
  const [subject] = operation.refs
  if (subject === undefined) return operation.refs
  return [...new Set([...operation.refs, siblingReference(subject, providerRef)])]
}
