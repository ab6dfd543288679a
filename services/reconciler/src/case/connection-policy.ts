import type { OutOfBand, ProviderKind, VerdictReason } from '@backstop/contracts'
import type { ActionRecord } from './action-record.ts'
import type { Case } from './case.ts'

/** What decides, at the second look, whether an unexplained action of a connection alerts. */
export interface ConnectionPolicy {
  readonly connectionId: string
  readonly provider: ProviderKind
  readonly outOfBand: OutOfBand
  readonly deleted: boolean
  /** Whether the provider's own data can be read through it. */
  readonly canRead: boolean
  /** Whether any operation of this connection ever reached executing. */
  readonly hasExecuted: boolean
}

export type Permission =
  | { readonly kind: 'alert'; readonly connectionId: string; readonly outOfBand: OutOfBand }
  | {
      readonly kind: 'quiet'
      readonly reason: Extract<
        VerdictReason,
        'out_of_band_ignore' | 'auto_before_first_operation' | 'connection_deleted'
      >
    }

/** Strictest first: an action seen through two connections is judged by the stricter setting. */
const STRICTNESS: readonly OutOfBand[] = ['alert', 'auto', 'ignore']

/**
 * The policies by which an action is judged: of every connection that shows it. One whose document is gone (connections are
 * only marked as deleted, so something is wrong) counts as `alert`: what is not known is no reason to stay quiet.
 */
export function policiesOf(
  theCase: Case,
  action: ActionRecord,
  known: ReadonlyMap<string, ConnectionPolicy>,
): ConnectionPolicy[] {
  // An operation on this very payment shows that the account was acted on, through whatever connection it was reported.
  const hasExecuted =
    theCase.operations.some(operation => operation.executing_at !== null) ||
    theCase.evicted.some(({ operationId }) => operationId !== null)
  return action.seenThrough.map(({ id }) => {
    const policy = known.get(id) ?? { ...UNKNOWN, connectionId: id, provider: action.provider }
    return hasExecuted ? { ...policy, hasExecuted } : policy
  })
}

const UNKNOWN = { outOfBand: 'alert', deleted: false, hasExecuted: false, canRead: false } as const

/** Whether an action seen through these connections may alert, and if not, why not. */
export function permissionToAlert(policies: readonly ConnectionPolicy[]): Permission {
  const living = policies
    .filter(policy => !policy.deleted)
    .sort((a, b) => STRICTNESS.indexOf(a.outOfBand) - STRICTNESS.indexOf(b.outOfBand))
  const strictest = living[0]
  if (strictest === undefined) return { kind: 'quiet', reason: 'connection_deleted' }
  if (strictest.outOfBand === 'ignore') return { kind: 'quiet', reason: 'out_of_band_ignore' }
  // The connections show the same provider account, so an operation on any of them counts for `auto`.
  if (strictest.outOfBand === 'auto' && !policies.some(policy => policy.hasExecuted)) {
    return { kind: 'quiet', reason: 'auto_before_first_operation' }
  }
  return { kind: 'alert', connectionId: strictest.connectionId, outOfBand: strictest.outOfBand }
}
