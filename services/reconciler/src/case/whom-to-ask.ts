import type { ProviderKind, ReadTarget } from '@backstop/contracts'
import type { ReadBack } from '@backstop/providers'
import type { ActionRecord } from './action-record.ts'
import type { RefundTotal } from './case.ts'
import type { ConnectionPolicy } from './connection-policy.ts'

/** What one look may know beyond its case. */
export interface LookFacts {
  /** Of every connection that shows an action of the case, or through which one of its operations was reported. */
  readonly policies: ReadonlyMap<string, ConnectionPolicy>
  /** What to ask a provider for: the providers' own rule. */
  readonly targetsOf: (provider: ProviderKind, what: Parameters<ReadBack['targetsOf']>[0]) => readonly ReadTarget[]
}

/** One question to one connection. */
export interface Asking {
  readonly connectionId: string
  readonly provider: ProviderKind
  readonly targets: readonly ReadTarget[]
}

export type WhomToAsk =
  | { readonly kind: 'ask'; readonly asking: Asking }
  /** Everything known of it rests on hints, and nobody can be asked now: it waits. */
  | { readonly kind: 'wait' }
  /** It was signed by its provider, and that is what there is. */
  | { readonly kind: 'nobody' }

/** Whom the second look asks about something that nothing explains. */
export function whomToAsk(seen: ActionRecord | RefundTotal, facts: LookFacts): WhomToAsk {
  const policies = seen.seenThrough.flatMap(({ id }) => facts.policies.get(id) ?? [])
  for (const policy of policies) {
    const asking = askThrough(policy, whatOf(seen, policy.provider), facts)
    if (asking !== undefined) return { kind: 'ask', asking }
  }
  const isDeleted = policies.length > 0 && policies.every(policy => policy.deleted)
  return isDeleted || isSigned(seen) ? { kind: 'nobody' } : { kind: 'wait' }
}

/** @returns undefined where the connection cannot be asked, or its provider has no answer to this */
export function askThrough(
  policy: ConnectionPolicy | undefined,
  what: Parameters<ReadBack['targetsOf']>[0],
  facts: LookFacts,
): Asking | undefined {
  if (policy === undefined || policy.deleted || !policy.canRead) return undefined
  const targets = facts.targetsOf(policy.provider, what)
  if (targets.length === 0) return undefined
  return { connectionId: policy.connectionId, provider: policy.provider, targets }
}

/** Whether a provider signed what is known of it. The subscription biller signs nothing: its events are hints. */
export function isSigned(seen: ActionRecord | RefundTotal): boolean {
  if ('sides' in seen && seen.sides.length > 0) return seen.sides.some(side => side.provider !== 'subscription')
  return seen.provider !== 'subscription'
}

function whatOf(seen: ActionRecord | RefundTotal, provider: ProviderKind): Parameters<ReadBack['targetsOf']>[0] {
  if (!('sides' in seen)) return { action: 'refund', providerRef: null, objectIds: seen.objectIds }
  const { providerRef, objectIds } = seen.sides.find(side => side.provider === provider) ?? seen
  return { action: seen.kind === 'cancellation' ? 'cancellation' : 'refund', providerRef, objectIds }
}
