import type { ProviderKind, ReadTarget } from '@backstop/contracts'
import type { ReadBack } from '@backstop/providers'
import type { ActionRecord } from './action-record.ts'
import type { RefundTotal } from './case.ts'
import type { ConnectionPolicy } from './connection-policy.ts'
import { connectedAccountOf, sideOf } from './sides.ts'

/** The facts that a look needs beyond its case. */
export interface LookFacts {
  /** The policies of every connection that shows an action of the case, or that reported one of its operations. */
  readonly policies: ReadonlyMap<string, ConnectionPolicy>
  /** The objects to read at a provider, by the rule of that provider. */
  readonly targetsOf: (provider: ProviderKind, what: Parameters<ReadBack['targetsOf']>[0]) => readonly ReadTarget[]
}

/** One question to one connection. */
export interface ProviderQuestion {
  readonly connectionId: string
  readonly provider: ProviderKind
  readonly targets: readonly ReadTarget[]
}

export type AskDecision =
  | { readonly kind: 'ask'; readonly asking: ProviderQuestion }
  /** The action is known only from hints, and no connection can be asked now, so the look waits. */
  | { readonly kind: 'wait' }
  /** The provider signed the event, and no connection can be asked, so the verdict is given without an answer. */
  | { readonly kind: 'nobody' }

/** Chooses the connection that the second look asks about an unexplained action. */
export function decideWhomToAsk(seen: ActionRecord | RefundTotal, facts: LookFacts): AskDecision {
  const policies = seen.seenThrough.flatMap(({ id }) => facts.policies.get(id) ?? [])
  for (const policy of policies) {
    // People may be alerted, so the details are read too.
    const what = { ...objectToRead(seen, policy.provider), details: true } as const
    const asking = questionThrough(policy, what, facts, connectedAccountOf(seen, policy.provider))
    if (asking !== undefined) return { kind: 'ask', asking }
  }
  const isDeleted = policies.length > 0 && policies.every(policy => policy.deleted)
  return isDeleted || isSigned(seen) ? { kind: 'nobody' } : { kind: 'wait' }
}

/**
 * @param account the connected account that has the object
 * @returns undefined if the connection cannot be asked, or if its provider cannot answer this
 */
export function questionThrough(
  policy: ConnectionPolicy | undefined,
  what: Parameters<ReadBack['targetsOf']>[0],
  facts: LookFacts,
  account: string | undefined,
): ProviderQuestion | undefined {
  if (policy === undefined || policy.deleted || !policy.canRead) return undefined
  const targets = facts.targetsOf(policy.provider, what)
  if (targets.length === 0) return undefined
  // Without the account the provider would answer that it does not know the object.
  const ofAccount = account === undefined ? targets : targets.map(target => ({ ...target, account }))
  return { connectionId: policy.connectionId, provider: policy.provider, targets: ofAccount }
}

/** True if a provider signed a sighting of it. The subscription biller signs nothing: all its events are hints. */
export function isSigned(seen: ActionRecord | RefundTotal): boolean {
  if ('sides' in seen && seen.sides.length > 0) return seen.sides.some(side => side.provider !== 'subscription')
  return seen.provider !== 'subscription'
}

function objectToRead(seen: ActionRecord | RefundTotal, provider: ProviderKind): Parameters<ReadBack['targetsOf']>[0] {
  if (!('sides' in seen)) return { action: 'refund', providerRef: null, objectIds: seen.objectIds }
  const { providerRef, objectIds } = sideOf(seen, provider) ?? seen
  return { action: seen.kind === 'cancellation' ? 'cancellation' : 'refund', providerRef, objectIds }
}
